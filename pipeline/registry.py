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
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, cast

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from pipeline.errors import ConfigError, Problem, UnknownName, did_you_mean
from pipeline.plugins import import_plugins, offered
from pipeline.templates import Template, Templates

ALL = "all"
"""Stands for every name where several may be given."""

T = TypeVar("T")
Made = TypeVar("Made")
Function = TypeVar("Function", bound=Callable[..., Any])
Facts = ParamSpec("Facts")


def itself(_name: str, function: Function) -> Function:
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
        self._claim(name, module)
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
        >>> from pipeline.templates import Numbers, Template
        >>> powers = Registry[int]("power", "pipeline.kernels.statistics")
        >>> two_to = Template("two_to", Numbers(), lambda _, n: 2**n, shown=2)
        >>> powers.add_template(two_to, "example")
        >>> powers.resolve(["two_to(5)"]), powers.get("two_to_5"), "two_to_5" in powers, [*powers]
        (['two_to_5'], 32, True, [])
        """
        for name in (template.label, *filter(template.member, self._things)):
            self._claim(name, module)
        self._templates[template.label] = template

    def _claim(self, name: str, module: str) -> None:
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
                self.add(name, create(name, function, *args, **facts), function.__module__)
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

    def module(self, name: str) -> str:
        """Return the module that registered `name`, or the family that it belongs to."""
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
        self._spelled = self._spelled or self._spelled_out()
        return dict(self._spelled)

    def _spelled_out(self) -> dict[str, str]:
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
        meant = {name: spellings.get(name) or self._made_name(name) for name in asked}
        if unknown := [name for name, found in meant.items() if found is None]:
            raise UnknownName("; ".join(map(self._unknown, unknown)))
        return list(dict.fromkeys(filter(None, meant.values())))

    def _made_name(self, typed: str) -> str | None:
        with suppress(ValueError):
            if found := self._templates.meant(typed):
                template, number = found
                return template.named(number)
        return None

    def __contains__(self, name: str) -> bool:
        self._take_in()
        if not self._built_in(name):
            self._look_up(name)
        return name in self._things or self._templates.member(name) is not None

    def __iter__(self) -> Iterator[str]:
        self._fill()
        return iter(sorted(self._things))

    def __len__(self) -> int:
        self._fill()
        return len(self._things)

    def _look_up(self, name: str) -> None:
        """Import the module that is named after the thing, and all only where it has none.

        What an extension registers does not do: the project may have the name too.
        """
        stems = {name.replace(".", "_"), name.rpartition(".")[2]}
        for module in modules(self._package):
            if module.rpartition(".")[2] in stems:
                importlib.import_module(module)
        if not self._built_in(name):
            self._fill()

    def _built_in(self, name: str) -> bool:
        return (self._holder(name) or "").startswith(f"{self._package}.")

    def _fill(self) -> None:
        self._take_in()
        import_all(self._package)

    def _take_in(self) -> None:
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

    def modules(self, value: str | Sequence[str]) -> set[str]:
        """Return the modules that registered what an option names."""
        names = [value] if isinstance(value, str) else value
        return {self.registry.module(name) for name in names}

    def _resolved(self, value: str | Sequence[str]) -> str | tuple[str, ...]:
        if isinstance(value, str):
            return self.registry.resolve([value])[0]
        return tuple(self.registry.resolve(value))

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._resolved, handler(source))

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


@cache
def modules(package: str) -> tuple[str, ...]:
    """Return the names of all modules below a package, none of them imported."""
    folders = importlib.import_module(package).__path__
    return tuple(_below(folders, f"{package}."))


def _below(folders: Iterable[str], prefix: str) -> Iterator[str]:
    for each in pkgutil.iter_modules(folders, prefix):
        yield each.name
        if each.ispkg:
            inner = each.name.removeprefix(prefix)
            yield from _below([f"{folder}/{inner}" for folder in folders], f"{each.name}.")


@cache
def import_all(package: str) -> None:
    """Import every module of `package`, so that each registers what it defines."""
    for module in modules(package):
        importlib.import_module(module)
