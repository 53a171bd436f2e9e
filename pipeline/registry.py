"""Named things that packages can add: measures, intervals, tests, stages, formats, charts ...

A `Registry` holds those of one kind, its decorators put functions in, and `Named` marks an option
as the name of one.

Another package adds its own by an entry point of the group ``lexassay`` that names a module;
importing that module registers what it defines, exactly as the project's own modules do::

    [project.entry-points.lexassay]
    anything = "my_package.my_measures"

A registry can have a group of its own besides, where an entry point names one thing.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Concatenate, Generic, ParamSpec, TypeAlias, TypeVar, cast

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from pipeline.errors import ConfigError, Problem, UnknownName, did_you_mean

GROUP = "lexassay"
"""Entry points that name modules to import."""
ALL = "all"
"""Stands for every name where several may be given."""
_DIGITS, _IN_NAMES = r"[-+]?\d+(?:\.\d+)?", r"[-+]?\d+(?:_\d+)?"

T = TypeVar("T")
Made = TypeVar("Made")
Function = TypeVar("Function", bound=Callable[..., Any])
Facts = ParamSpec("Facts")
Number: TypeAlias = int | Fraction
"""Whole numbers are int; both have ``numerator`` and ``denominator``."""


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


def offered(group: str) -> Iterator[tuple[str, Any, str]]:
    """Yield what installed packages offer in a group: name, function or class, its module.

    Parameters
    ----------
    group : str
        Of entry points, each the name of one thing, such as ``lexassay.engines``.

    Raises
    ------
    ConfigError
        If one cannot be imported, or is neither function nor class; the message names its package.
    """
    for point in _points(group):
        thing = _load(point)
        if not callable(thing):
            what = f"stands for {type(thing).__name__}, no function or class"
            remedy = f'write {point.name} = "module:name" in [project.entry-points."{group}"]'
            raise ConfigError(_distribution(point), [Problem(_place(point), what, remedy)])
        yield point.name, thing, getattr(thing, "__module__", point.module)


def _points(group: str) -> list[EntryPoint]:
    return sorted(entry_points(group=group), key=lambda point: point.name)


def _load(point: EntryPoint) -> Any:
    try:
        return point.load()
    except Exception as error:
        what = f"the extension cannot be imported: {type(error).__name__}: {error}"
        raise ConfigError(_distribution(point), [Problem(_place(point), what)]) from error


def _place(point: EntryPoint) -> str:
    return f"entry point {point.name} = {point.value}"


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "an installed package"


# Parametrised names: families of things that one function makes, such as mi_conf(n)


@dataclass(frozen=True)
class Numbers:
    """The numbers that a template takes.

    Parameters
    ----------
    decimals : int
        How many digits may follow the point; 0 for whole numbers.
    above : int
        What they are larger than, from 0.
    most : int
        The largest.

    Examples
    --------
    >>> Numbers().read("50"), Numbers().read("2.5"), Numbers(decimals=3).read("2.50")
    (50, None, Fraction(5, 2))
    >>> str(Numbers()), str(Numbers(decimals=3))
    ('a whole number from 1 to 1,000,000', 'a number from 0.001 to 1,000,000')
    """

    decimals: int = 0
    above: int = 0
    most: int = 1_000_000

    def read(self, text: str) -> Number | None:
        """Return the number that a text stands for; None if it is none of these."""
        if not re.fullmatch(_DIGITS, text):
            return None
        number = Fraction(text)
        if not self.above < number <= self.most or (number * 10**self.decimals).denominator > 1:
            return None
        return int(number) if number.denominator == 1 else number

    def write(self, number: Number) -> str:
        """Return the number as a decimal, without zeros at its end.

        Examples
        --------
        >>> Numbers().write(50), Numbers(decimals=3).write(Fraction(5, 2))
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
    """A family of things with a number in their name.

    Parameters
    ----------
    name : str
        What their names begin with: mi_conf of mi_conf_5.
    numbers : Numbers
        The numbers that they can have.
    make : callable
        (name, number) -> thing.
    shown : T
        What stands for all of them in a list.
    spellings : sequence of str
        What else people type, ``{n}`` in the place of the number: ``MI.conf.{n}``.

    Examples
    --------
    >>> steps = Template("step", Numbers(), lambda name, n: n, shown=0, spellings=["Step.{n}.pv"])
    >>> [steps.number(typed) for typed in ("step(3)", "step_3", "Step.3.pv", "stepping")]
    [3, 3, 3, None]
    >>> steps.named(3), steps.label
    ('step_3', 'step(n)')
    """

    name: str
    numbers: Numbers
    make: Callable[[str, Number], T]
    shown: T
    spellings: Sequence[str] = ()

    @property
    def label(self) -> str:
        """How a list names the family."""
        return f"{self.name}(n)"

    @cached_property
    def pattern(self) -> str:
        """What is typed for a thing of the family, as a regular expression."""
        typed = (_escaped(form, f"({_DIGITS})") for form in (self._called, *self.spellings))
        return "|".join([*typed, f"{re.escape(self.name)}_({_IN_NAMES})"])

    @property
    def _called(self) -> str:
        return f"{self.name}({{n}})"

    def named(self, number: Number) -> str:
        """Return the name of the thing with this number: that of a column, ``_`` for the point."""
        return f"{self.name}_{self.numbers.write(number).replace('.', '_')}"

    def number(self, typed: str) -> Number | None:
        """Return the number in what was typed; None if it does not mean a thing of the family.

        Raises
        ------
        ValueError
            If it does, but without a number or with another than the family has; what to type.
        """
        found = re.fullmatch(self.pattern, typed)
        if typed == self.name:
            raise ValueError(f"type {self.label}, {self.explained}")
        if found is None and not re.fullmatch(_escaped(self._called, ".*"), typed):
            return None
        text = next(filter(None, found.groups())) if found else ""
        number = self.numbers.read(text.replace("_", "."))
        # Who types name_1_000 means no 1: a name is the very name.
        foreign = typed.startswith(f"{self.name}_") and number and self.named(number) != typed
        if number is None or foreign:
            raise ValueError(f"in {self.label}, {self.explained}")
        return number

    @property
    def explained(self) -> str:
        """What n is."""
        return f"n is {self.numbers}"

    def member(self, name: str) -> Number | None:
        """Return the number of the thing that has this very name, as `named` gives it, or None."""
        try:
            number = self.number(name)
        except ValueError:
            return None
        return number if number is not None and self.named(number) == name else None


class Templates(dict[str, Template[T]]):
    """Templates by their labels."""

    def member(self, name: str) -> tuple[Template[T], Number] | None:
        """Return the family that the thing of this very name belongs to, and its number."""
        return self._first(name, Template.member)

    def meant(self, typed: str) -> tuple[Template[T], Number] | None:
        """Return the family of the thing that is meant by what was typed, and its number.

        Raises
        ------
        ValueError
            If the family has no such number.
        """
        return self._first(typed, Template.number)

    def _first(
        self, text: str, number: Callable[[Template[T], str], Number | None]
    ) -> tuple[Template[T], Number] | None:
        found = ((each, number(each, text)) for each in self.values())
        return next(((each, n) for each, n in found if n is not None), None)


def _escaped(form: str, number: str) -> str:
    before, _, after = form.partition("{n}")
    return f"{re.escape(before)}{number}{re.escape(after)}"


# Registries


def identity(_name: str, function: Function) -> Function:
    """Return a function as what is registered: nothing else has to be said of it."""
    return function


class Registry(Generic[T]):
    """A name -> thing table that fills itself on first use.

    What is made by a template, such as mi_conf_50, need not stand in it: see `add_template`.

    Parameters
    ----------
    kind : str
        What it holds, for messages: "measure", "stage" ...
    package : str
        The package whose modules register the built-in ones when imported.
    spellings : callable, optional
        thing -> what else people type for its name.
    group : str, optional
        Of entry points by which installed packages offer such things, each under its own name.

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
    ) -> None:
        self.kind = kind
        self._package = package
        self._spellings = spellings
        self._group = group
        self._things: dict[str, T] = {}
        self._templates: Templates[T] = Templates()
        self._origin: dict[str, str] = {}
        self._spelled: dict[str, str] = {}

    def add(self, name: str, thing: T, module: str) -> None:
        """Register `thing` under `name`; a second module may not take the same name.

        Raises
        ------
        ConfigError
            If another module has registered the name.
        """
        self._reserve(name, module)
        self._things[name] = thing
        self._spelled = {}

    def add_template(self, template: Template[T], module: str) -> None:
        """Register a family of things with a number in their names.

        `get`, `in` and `resolve` find each of them; lists, and ``all``, have those only that are
        registered by `add` besides.

        Raises
        ------
        ConfigError
            If another module has registered the family, or one of the names in it.

        Examples
        --------
        >>> from pipeline.registry import Numbers, Template
        >>> powers = Registry[int]("power", "pipeline.kernels.statistics")
        >>> two_to = Template("two_to", Numbers(), lambda _, n: 2**n, shown=2)
        >>> powers.add_template(two_to, "example")
        >>> powers.resolve(["two_to(5)"]), powers.get("two_to_5"), "two_to_5" in powers, [*powers]
        (['two_to_5'], 32, True, [])
        """
        for name in (template.label, *filter(template.member, self._things)):
            self._reserve(name, module)
        self._templates[template.label] = template

    def _reserve(self, name: str, module: str) -> None:
        holder = self._holder(name)
        if holder not in (None, module):
            what = f"{self.kind} {name!r} is registered by {holder} and by {module}"
            raise ConfigError("registry", [Problem(name, what, "rename one of them")])
        self._origin[name] = module

    def _holder(self, name: str) -> str | None:
        """Return the module that registered a name, or a family that has a thing of this name."""
        if name in self._origin:
            return self._origin[name]
        family = self._templates.member(name)
        return self._origin.get(family[0].label) if family else None

    def naming(
        self, make: Callable[Concatenate[str, Function, Facts], Made]
    ) -> Callable[Concatenate[str, Facts], Callable[[Function], Function]]:
        """Return the decorator that registers functions under a name that it is given.

        Parameters
        ----------
        make : callable
            (name, function, facts) -> thing, such as the class of the things. The decorator is
            called with name and facts, and gives the function back unchanged.

        Examples
        --------
        >>> lengths = Registry[int]("length", "pipeline.kernels.statistics")
        >>> length = lengths.naming(lambda name, function, *, unit: function() * unit)
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
        """Return the decorator that registers functions under their own names, see `naming`."""
        naming = self.naming(make)

        def decorator(*args: Facts.args, **facts: Facts.kwargs) -> Callable[[Function], Function]:
            def register(function: Function) -> Function:
                return naming(function.__name__, *args, **facts)(function)

            return register

        return decorator

    def get(self, name: str) -> T:
        """Return the thing of this name.

        Raises
        ------
        UnknownName
            With the nearest valid names in its message; it is a KeyError and a ValueError.
        """
        if name not in self:
            raise UnknownName(self._unknown(name))
        if name not in self._things and (found := self._templates.member(name)):
            template, number = found
            return template.make(name, number)
        return self._things[name]

    def _unknown(self, name: str) -> str:
        try:
            self._templates.meant(name)
            known = [*self._things, *self._templates]
            remedy = did_you_mean(name, known, spellings=self.spellings())
        except ValueError as error:
            remedy = str(error)
        return f"unknown {self.kind} {name!r}; {remedy}"

    def place(self, name: str) -> str:
        """Return where `name` is defined, ``module:name``, or the family that it belongs to."""
        self.get(name)
        return cast(str, self._holder(name))

    def templates(self) -> list[Template[T]]:
        """Return the families of things with a number in their names, by name."""
        self._fill()
        return [self._templates[label] for label in sorted(self._templates)]

    def title(self, name: str) -> str:
        """Return what a page calls a thing: its title, or the name in words if it has none.

        A name that nothing has any more, as the package is gone that registered it, goes by itself.
        """
        thing = self.get(name) if name in self else None
        return getattr(thing, "title", "") or name.replace("_", " ")

    def registered(self) -> dict[str, str]:
        """Return what has been registered by now, with its module; nothing is imported for it."""
        return dict(self._origin)

    def spellings(self) -> dict[str, str]:
        """Return everything that people may type, with the name that it stands for.

        Raises
        ------
        ConfigError
            If two things claim the same spelling.
        """
        self._fill()
        self._spelled = self._spelled or self._collect_spellings()
        return dict(self._spelled)

    def _collect_spellings(self) -> dict[str, str]:
        holders = {name: name for name in self}
        for name, thing in sorted(self._things.items()):
            for spelling in self._spellings(thing) if self._spellings else ():
                holder = holders.setdefault(spelling, name)
                if holder != name:
                    what = f"stands for {holder} and for {name}"
                    problem = Problem(spelling, what, "rename one of them")
                    raise ConfigError(f"{self.kind}s", [problem])
        return holders

    def resolve(self, names: Iterable[str]) -> list[str]:
        """Return the names that some spellings stand for, each once, in their order.

        Parameters
        ----------
        names : iterable of str
            Names or other spellings; ``all`` stands for every name.

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
        asked = [each for name in names for each in (self if name == ALL else [name])]
        meant = {name: spellings.get(name) or self._member_name(name) for name in asked}
        if unknown := [name for name, found in meant.items() if found is None]:
            raise UnknownName("; ".join(map(self._unknown, unknown)))
        return list(dict.fromkeys(filter(None, meant.values())))

    def _member_name(self, typed: str) -> str | None:
        with suppress(ValueError):
            if found := self._templates.meant(typed):
                template, number = found
                return template.named(number)
        return None

    def __contains__(self, name: str) -> bool:
        self._import_plugins()
        if not self._built_in(name):
            self._import_defining(name)
        return name in self._things or self._templates.member(name) is not None

    def __iter__(self) -> Iterator[str]:
        self._fill()
        return iter(sorted(self._things))

    def __len__(self) -> int:
        self._fill()
        return len(self._things)

    def _import_defining(self, name: str) -> None:
        """Import the modules whose text defines the name, and all only where none does.

        What an extension registers does not do: the project may have the name too.
        """
        forms = (f'"{name}"', f"'{name}'", f"def {name}(")
        for module, path in sources(self._package).items():
            if any(form in _text(path) for form in forms):
                importlib.import_module(module)
        if not self._built_in(name):
            self._fill()

    def _built_in(self, name: str) -> bool:
        return (self._holder(name) or "").startswith(f"{self._package}.")

    def _fill(self) -> None:
        self._import_plugins()
        import_all(self._package)

    def _import_plugins(self) -> None:
        """Import what installed packages add: modules that register, then things by name."""
        import_plugins()
        if self._group:
            for name, thing, module in offered(self._group):
                self.add(name, thing, module)
            self._group = ""  # once is enough, and what failed fails again


@dataclass(frozen=True)
class Named:
    """Marks an option as the name of something registered, or as a list of such names.

    A name that is not known is refused when the option is read, with the nearest ones; other
    spellings become the name; ``all`` in a list stands for every name. The code of what is named
    belongs to the fingerprint of a stage with such an option.

    Parameters
    ----------
    registry : Registry
        What is named.

    Examples
    --------
    >>> from typing import Annotated
    >>> from pydantic import BaseModel
    >>> from pipeline.kernels.measure import MEASURES
    >>> class Asked(BaseModel):
    ...     measures: Annotated[tuple[str, ...], Named(MEASURES)]
    >>> Asked(measures=("G2",)).measures
    ('log_likelihood',)
    """

    registry: Registry[Any]

    def places(self, value: str | Sequence[str]) -> set[str]:
        """Return where what an option names is defined, each as ``module:name``."""
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
    """Return the names of all modules below a package with their files; none is imported."""
    folders = importlib.import_module(package).__path__
    return {
        ".".join([package, *path.relative_to(folder).with_suffix("").parts]): path
        for folder in folders
        for path in sorted(Path(folder).rglob("*.py"))
        if path.name != "__init__.py"
    }


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def import_all(package: str) -> None:
    """Import every module of `package`, so that each registers what it defines."""
    for module in sources(package):
        importlib.import_module(module)
