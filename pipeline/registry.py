"""Named entries that packages can add: measures, intervals, tests, stages, formats, charts ...

A `Registry` holds those of one kind, its decorators put functions in, and `NameIn` marks an option
as the name of one.

Another package adds its own by an entry point of the group ``lexassay`` that names a module;
importing that module registers what it defines, exactly as the project's own modules do::

    [project.entry-points.lexassay]
    anything = "my_package.my_measures"

A registry can also have its own group of entry points, each of which names one entry.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import MappingProxyType
from typing import Any, Concatenate, Generic, ParamSpec, TypeAlias, TypeVar, cast

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from pipeline.errors import ConfigError, Problem, UnknownName, did_you_mean
from pipeline.release import current_name

GROUP = "lexassay"
"""Entry points that name modules to import."""
ALL = "all"
"""All names, in a list of names, but those of entries whose attribute `is_in_all` is false."""
_DIGITS, _IN_NAMES = r"[-+]?\d+(?:\.\d+)?", r"[-+]?\d+(?:_\d+)?"

T = TypeVar("T")
Made = TypeVar("Made")
Function = TypeVar("Function", bound=Callable[..., Any])
Facts = ParamSpec("Facts")
Number: TypeAlias = int | Fraction
"""Whole numbers are int; both have ``numerator`` and ``denominator``."""


def as_names(names: str | Iterable[str]) -> tuple[str, ...]:
    """Return names; a single name may be given without a list.

    Examples
    --------
    >>> as_names("all"), as_names(["mi", "dice"])
    (('all',), ('mi', 'dice'))
    """
    return (names,) if isinstance(names, str) else tuple(names)


# What installed packages offer by entry points


@cache
def import_plugins() -> None:
    """Import the modules that installed packages offer by entry point.

    Raises
    ------
    ConfigError
        If one of them cannot be imported; the message names its package.
    """
    for point in _points(GROUP):
        _load(point)


def load_entry_points(group: str) -> Iterator[tuple[str, Any, str]]:
    """Yield the entries that installed packages add by entry points of a group.

    Parameters
    ----------
    group : str
        The group of entry points, for example ``lexassay.engines``.

    Yields
    ------
    name, entry, module : str, callable, str
        The entry is a function or class.

    Raises
    ------
    ConfigError
        If one cannot be imported, or is neither function nor class; the message names its package.
    """
    for point in _points(group):
        entry = _load(point)
        if not callable(entry):
            what = f"is of type {type(entry).__name__}, not a function or class"
            remedy = f'write {point.name} = "module:name" in [project.entry-points."{group}"]'
            raise ConfigError(_distribution(point), [Problem(_place(point), what, remedy)])
        yield point.name, entry, getattr(entry, "__module__", point.module)


def _points(group: str) -> list[EntryPoint]:
    return sorted(entry_points(group=group), key=lambda point: point.name)


def _load(point: EntryPoint) -> Any:
    try:
        return point.load()
    except (Exception, SystemExit) as error:
        what = f"the extension cannot be imported: {type(error).__name__}: {error}"
        raise ConfigError(_distribution(point), [Problem(_place(point), what)]) from error


def _place(point: EntryPoint) -> str:
    return f"entry point {point.name} = {point.value}"


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "an installed package"


# Parametrised names: families of entries that one function makes, for example mi_conf(n)


@dataclass(frozen=True)
class NumberRange:
    """The numbers that the names of a template may have.

    Parameters
    ----------
    decimals : int
        How many digits may follow the point; 0 for whole numbers.
    above : int
        They are larger than this number, which is at least 0.
    most : int
        The largest of them.

    Examples
    --------
    >>> NumberRange().read("50"), NumberRange().read("2.5"), NumberRange(decimals=3).read("2.50")
    (50, None, Fraction(5, 2))
    >>> str(NumberRange()), str(NumberRange(decimals=3))
    ('a whole number from 1 to 1,000,000', 'a number from 0.001 to 1,000,000')
    """

    decimals: int = 0
    above: int = 0
    most: int = 1_000_000

    def read(self, text: str) -> Number | None:
        """Return the number in a text; None if it is not in the range."""
        if not re.fullmatch(_DIGITS, text):
            return None
        number = Fraction(text)
        if not self.above < number <= self.most or (number * 10**self.decimals).denominator > 1:
            return None
        return int(number) if number.denominator == 1 else number

    def write(self, number: Number) -> str:
        """Return the number in decimals, without zeros at the end.

        Examples
        --------
        >>> NumberRange().write(50), NumberRange(decimals=3).write(Fraction(5, 2))
        ('50', '2.5')
        """
        whole, rest = divmod(
            number.numerator * 10**self.decimals // number.denominator, 10**self.decimals
        )
        tail = f"{rest:0{self.decimals}d}".rstrip("0") if rest else ""
        return f"{whole}.{tail}" if tail else str(whole)

    def __str__(self) -> str:
        least = self.write(self.above + Fraction(1, 10**self.decimals))
        return f"a {'' if self.decimals else 'whole '}number from {least} to {self.most:,}"


@dataclass(frozen=True)
class Template(Generic[T]):
    """A family of entries with a number in their name.

    Parameters
    ----------
    name : str
        The beginning of their names: mi_conf of mi_conf_5.
    numbers : NumberRange
        The numbers that they can have.
    make : callable
        (name, number) -> entry.
    example : T
        The entry that represents the family in a list.
    spellings : sequence of str
        Other spellings, with ``{n}`` for the number: ``MI.conf.{n}``.

    Examples
    --------
    >>> steps = Template(
    ...     "step", NumberRange(), lambda name, n: n, example=0, spellings=["Step.{n}.pv"]
    ... )
    >>> [steps.number(typed) for typed in ("step(3)", "step_3", "Step.3.pv", "stepping")]
    [3, 3, 3, None]
    >>> steps.name_of(3), steps.label
    ('step_3', 'step(n)')
    """

    name: str
    numbers: NumberRange
    make: Callable[[str, Number], T]
    example: T
    spellings: Sequence[str] = ()

    @property
    def label(self) -> str:
        """The name of the family in a list."""
        return f"{self.name}(n)"

    @cached_property
    def pattern(self) -> str:
        """A regular expression for all spellings of the entries of the family."""
        spellings = (_escape(form, f"({_DIGITS})") for form in (self._called, *self.spellings))
        return "|".join([*spellings, f"{re.escape(self.name)}_({_IN_NAMES})"])

    @property
    def _called(self) -> str:
        return f"{self.name}({{n}})"

    def name_of(self, number: Number) -> str:
        """Return the name of the entry with this number, with ``_`` for the decimal point."""
        return f"{self.name}_{self.numbers.write(number).replace('.', '_')}"

    def number(self, spelling: str) -> Number | None:
        """Return the number in a spelling; None if it is no spelling of an entry of the family.

        Raises
        ------
        ValueError
            If the number is missing or out of range; the message says what to type.
        """
        match = re.fullmatch(self.pattern, spelling)
        if spelling == self.name:
            raise ValueError(f"type {self.label}, {self.range_text}")
        if match is None and not re.fullmatch(_escape(self._called, ".*"), spelling):
            return None
        text = next(filter(None, match.groups())) if match else ""
        number = self.numbers.read(text.replace("_", "."))
        # name_1_000 is not accepted as 1: with an underscore only the exact name is.
        not_canonical = (
            spelling.startswith(f"{self.name}_") and number and self.name_of(number) != spelling
        )
        if number is None or not_canonical:
            raise ValueError(f"in {self.label}, {self.range_text}")
        return number

    @property
    def range_text(self) -> str:
        """Says what n may be."""
        return f"n is {self.numbers}"

    def member(self, name: str) -> Number | None:
        """Return the number of the entry with exactly this name, see `name_of`, or None."""
        try:
            number = self.number(name)
        except ValueError:
            return None
        return number if number is not None and self.name_of(number) == name else None


class Templates(dict[str, Template[T]]):
    """Templates by their labels."""

    def member(self, name: str) -> tuple[Template[T], Number] | None:
        """Return the family and number of the entry with exactly this name, or None."""
        return self._first(name, Template.member)

    def match(self, spelling: str) -> tuple[Template[T], Number] | None:
        """Return the family and number of the entry with this spelling, or None.

        Raises
        ------
        ValueError
            If the family has no such number.
        """
        return self._first(spelling, Template.number)

    def _first(
        self, text: str, number: Callable[[Template[T], str], Number | None]
    ) -> tuple[Template[T], Number] | None:
        numbers = ((each, number(each, text)) for each in self.values())
        return next(((each, n) for each, n in numbers if n is not None), None)


def _escape(form: str, number: str) -> str:
    before, _, after = form.partition("{n}")
    return f"{re.escape(before)}{number}{re.escape(after)}"


# Registries


def identity(_name: str, function: Function) -> Function:
    """Return the function itself, for a registry whose entries are functions without facts."""
    return function


class Registry(Generic[T]):
    """A table from names to entries, filled when it is first used.

    Entries of a template, for example mi_conf_50, need not be in the table: see `add_template`.

    Parameters
    ----------
    kind : str
        The kind of its entries, for messages: "measure", "stage" ...
    package : str
        The package, or module, that registers the built-in ones when imported.
    spellings : callable, optional
        entry -> other spellings of its name.
    group : str, optional
        The group of entry points by which installed packages add entries, one by each.
    replaced : mapping of str to str, optional
        Former names, with what to use instead.

    Examples
    --------
    >>> shapes = Registry[int]("shape", "pipeline.kernels.statistics")
    >>> shapes.add("square", 4, "example")
    >>> shapes.get("square")
    4
    """

    def __init__(
        self,
        kind: str,
        package: str,
        *,
        spellings: Callable[[T], Iterable[str]] | None = None,
        group: str = "",
        replaced: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.kind = kind
        self._package = package
        self._spellings = spellings
        self._group = group
        self._replaced = replaced
        self._entries: dict[str, T] = {}
        self._templates: Templates[T] = Templates()
        self._origin: dict[str, str] = {}
        self._spelled: dict[str, str] = {}

    def add(self, name: str, entry: T, module: str) -> None:
        """Register `entry` under `name`; a second module may not take the same name.

        Raises
        ------
        ConfigError
            If another module has registered the name.
        """
        self._reserve(name, module)
        self._entries[name] = entry
        self._spelled = {}

    def add_template(self, template: Template[T], module: str) -> None:
        """Register a family of entries with a number in their names.

        `get`, ``in`` and `resolve` find each of them. Lists, and ``all``, hold only those that
        `add` has registered.

        Raises
        ------
        ConfigError
            If another module has registered the family, or one of the names in it.

        Examples
        --------
        >>> from pipeline.registry import NumberRange, Template
        >>> powers = Registry[int]("power", "pipeline.kernels.statistics")
        >>> two_to = Template("two_to", NumberRange(), lambda _, n: 2**n, example=2)
        >>> powers.add_template(two_to, "example")
        >>> powers.resolve(["two_to(5)"]), powers.get("two_to_5"), "two_to_5" in powers, [*powers]
        (['two_to_5'], 32, True, [])
        """
        for name in (template.label, *filter(template.member, self._entries)):
            self._reserve(name, module)
        self._templates[template.label] = template

    def _reserve(self, name: str, module: str) -> None:
        holder = self._holder(name)
        if holder not in (None, module):
            what = f"{self.kind} {name!r} is registered by {holder} and by {module}"
            raise ConfigError("registry", [Problem(name, what, "rename one of them")])
        self._origin[name] = module

    def _holder(self, name: str) -> str | None:
        """Return the module that registered a name, or the family of the name."""
        if name in self._origin:
            return self._origin[name]
        family = self._templates.member(name)
        return self._origin.get(family[0].label) if family else None

    def named_decorator(
        self, make: Callable[Concatenate[str, Function, Facts], Made]
    ) -> Callable[Concatenate[str, Facts], Callable[[Function], Function]]:
        """Return a decorator that takes a name and registers a function under it.

        Parameters
        ----------
        make : callable
            (name, function, facts) -> entry, such as the class of the entries. The decorator
            takes name and facts, and returns the function unchanged.

        Examples
        --------
        >>> lengths = Registry[int]("length", "pipeline.kernels.statistics")
        >>> length = lengths.named_decorator(lambda name, function, *, unit: function() * unit)
        >>> _ = length("three feet", unit=12)(lambda: 3)
        >>> lengths.get("three feet")
        36
        """
        create = cast("Callable[..., T]", make)

        def decorator(
            name: str, /, *args: Facts.args, **facts: Facts.kwargs
        ) -> Callable[[Function], Function]:
            def register(function: Function) -> Function:
                self.add(name, create(name, function, *args, **facts), place_of(function))
                return function

            return register

        return decorator

    def decorator(
        self, make: Callable[Concatenate[str, Function, Facts], Made]
    ) -> Callable[Facts, Callable[[Function], Function]]:
        """Return a decorator that registers a function under its own name."""
        register_as = self.named_decorator(make)

        def decorator(*args: Facts.args, **facts: Facts.kwargs) -> Callable[[Function], Function]:
            def register(function: Function) -> Function:
                return register_as(function.__name__, *args, **facts)(function)

            return register

        return decorator

    def get(self, name: str) -> T:
        """Return the entry of this name.

        Raises
        ------
        UnknownName
            With the nearest valid names in its message; it is a KeyError and a ValueError.
        """
        if name not in self and (name := current_name(self.kind, name)) not in self:
            raise UnknownName(self._unknown(name))
        if name not in self._entries and (member := self._templates.member(name)):
            template, number = member
            return template.make(name, number)
        return self._entries[name]

    def _unknown(self, name: str) -> str:
        if name in self._replaced:
            return f"{self.kind} {name!r} was replaced: {self._replaced[name]}"
        try:
            self._templates.match(name)
            known = [*self._entries, *self._templates]
            remedy = did_you_mean(name, known, spellings=self.spellings())
        except ValueError as error:
            remedy = str(error)
        return f"unknown {self.kind} {name!r}; {remedy}"

    def place(self, name: str) -> str:
        """Return where a name or its family is defined, ``module:name``."""
        self.get(name)
        return cast(str, self._holder(name))

    def templates(self) -> list[Template[T]]:
        """Return the families of entries with a number in their names, by name."""
        self._fill()
        return [self._templates[label] for label in sorted(self._templates)]

    def title(self, name: str) -> str:
        """Return the title of an entry for a page, or its name in words if it has none.

        The name may be unknown, because the package that registered it was removed.
        """
        entry = self.get(name) if name in self else None
        return getattr(entry, "title", "") or name.replace("_", " ")

    def modules_by_name(self) -> dict[str, str]:
        """Return the names registered so far, with their modules, without importing any."""
        return dict(self._origin)

    def spellings(self) -> dict[str, str]:
        """Return all spellings with their names.

        Raises
        ------
        ConfigError
            If two entries claim the same spelling.
        """
        self._fill()
        self._spelled = self._spelled or self._collect_spellings()
        return dict(self._spelled)

    def _collect_spellings(self) -> dict[str, str]:
        holders = {name: name for name in self}
        for name, entry in sorted(self._entries.items()):
            for spelling in self._spellings(entry) if self._spellings else ():
                holder = holders.setdefault(spelling, name)
                if holder != name:
                    what = f"is a spelling of both {holder} and {name}"
                    problem = Problem(spelling, what, "rename one of them")
                    raise ConfigError(f"{self.kind}s", [problem])
        return holders

    def resolve(self, names: Iterable[str]) -> list[str]:
        """Return the names of some spellings, each once, in their order.

        Parameters
        ----------
        names : iterable of str
            Names or other spellings; ``all`` means every name, but those of entries whose attribute
            `is_in_all` is false.

        Raises
        ------
        UnknownName
            For all that are unknown, with the nearest valid ones.

        Examples
        --------
        >>> from pipeline.kernels.measure import MEASURES
        >>> MEASURES.resolve(["G2", "t.score", "LL"])
        ['log_likelihood', 't_score']
        """
        spellings = self.spellings()
        every = [name for name in self if getattr(self._entries[name], "is_in_all", True)]
        now = [current_name(self.kind, name) for name in names]
        every_name = [each for name in now for each in (every if name == ALL else [name])]
        matches = {name: spellings.get(name) or self._member_name(name) for name in every_name}
        if unknown := [name for name, match in matches.items() if match is None]:
            raise UnknownName("; ".join(map(self._unknown, unknown)))
        return list(dict.fromkeys(filter(None, matches.values())))

    def _member_name(self, spelling: str) -> str | None:
        with suppress(ValueError):
            if member := self._templates.match(spelling):
                template, number = member
                return template.name_of(number)
        return None

    def __contains__(self, name: str) -> bool:
        self._import_plugins()
        if not self._built_in(name):
            self._import_defining(name)
        return name in self._entries or self._templates.member(name) is not None

    def __iter__(self) -> Iterator[str]:
        self._fill()
        return iter(sorted(self._entries))

    def __len__(self) -> int:
        self._fill()
        return len(self._entries)

    def _import_defining(self, name: str) -> None:
        """Import the modules whose text defines the name; import all modules if none does.

        An entry of an extension is not enough: the project may have the same name.
        """
        forms = (f'"{name}"', f"'{name}'", f"def {name}(")
        for module, path in sources(self._package).items():
            if any(form in _text(path) for form in forms):
                importlib.import_module(module)
        if not self._built_in(name):
            self._fill()

    def _built_in(self, name: str) -> bool:
        return f"{self._holder(name)}.".startswith(f"{self._package}.")

    def _fill(self) -> None:
        self._import_plugins()
        import_all(self._package)

    def _import_plugins(self) -> None:
        """Import the modules that installed packages add, then their entries."""
        import_plugins()
        if self._group:
            for name, entry, module in load_entry_points(self._group):
                self.add(name, entry, module)
            self._group = ""  # only once; a failed import is tried again


@dataclass(frozen=True)
class NameIn:
    """Marks an option as the name of a registered entry, or as a list of such names.

    Reading the option refuses an unknown name, with the nearest names in the message, and replaces
    other spellings by the name; ``all`` in a list means every name. The code of the entry
    belongs to the fingerprint of the stage.

    Parameters
    ----------
    registry : Registry
        The registry of the entry.

    Examples
    --------
    >>> from typing import Annotated
    >>> from pydantic import BaseModel
    >>> from pipeline.kernels.measure import MEASURES
    >>> class Asked(BaseModel):
    ...     measures: Annotated[tuple[str, ...], NameIn(MEASURES)]
    >>> Asked(measures=("G2",)).measures
    ('log_likelihood',)
    """

    registry: Registry[Any]

    def places(self, value: str | Sequence[str]) -> set[str]:
        """Return where the entries that an option names are defined, as ``module:name``."""
        names = [value] if isinstance(value, str) else value
        return {self.registry.place(name) for name in names}

    def _resolve(self, value: str | Sequence[str]) -> str | tuple[str, ...]:
        if isinstance(value, str):
            return self.registry.resolve([value])[0]
        return tuple(self.registry.resolve(value))

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._resolve, handler(source))

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        schema = handler(core)
        several = schema.get("items")
        names = [*self.registry.spellings(), *([] if several is None else [ALL])]
        patterns = [{"pattern": f"^({each.pattern})$"} for each in self.registry.templates()]
        known = {"anyOf": [{"enum": names}, *patterns]} if patterns else {"enum": names}
        (schema if several is None else several).update(known)
        return schema


def place_of(function: Callable[..., Any]) -> str:
    """Return where a function or class is defined, as ``module:name``."""
    return f"{function.__module__}:{function.__qualname__}"


@cache
def sources(package: str) -> dict[str, Path]:
    """Return the names of all modules below a package, or of this one module, with their files."""
    module = importlib.import_module(package)
    if not hasattr(module, "__path__"):
        return {package: Path(str(module.__file__))}
    return {
        ".".join([package, *path.relative_to(folder).with_suffix("").parts]): path
        for folder in module.__path__
        for path in sorted(Path(folder).rglob("*.py"))
        if path.name != "__init__.py"
    }


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def import_all(package: str) -> None:
    """Import every module of `package`, so that each registers its entries."""
    for module in sources(package):
        importlib.import_module(module)
