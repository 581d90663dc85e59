"""Records: values as `dataclasses` makes them, for the modules that a hook loads on every prompt.

To import `dataclasses` and to let it write two dozen classes takes longer than Python itself needs to start. So
these few are made without writing code: slots, equality by fields, a readable form, no setting where frozen. `dataclasses.replace`,
`fields` and `asdict` work on them as on any other. Everywhere else `dataclasses` itself is used.
"""

from __future__ import annotations

from collections.abc import Callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar, dataclass_transform

    T = TypeVar("T")


class _Fresh:
    """A default that is made anew for each value."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[], Any]):
        self.make = make


def fresh(make: Callable[[], Any]) -> Any:
    """A field's default that `make` makes for each value: `shown: list[str] = fresh(list)`."""
    return _Fresh(make)


def changed(one: T, **named: Any) -> T:
    """A record like `one` but for the named fields."""
    return one.__class__(**{**{name: getattr(one, name) for name in one.__slots__}, **named})  # type: ignore[attr-defined]


class _AsDataclass:
    """What `dataclasses` asks a class for, made when it is asked for: the fields as that module sees them."""

    def __init__(self, annotations: dict[str, Any], defaults: dict[str, Any]):
        self._annotations, self._defaults = annotations, defaults

    def __get__(self, instance: object, owner: type) -> Any:
        import dataclasses

        body: dict[str, Any] = {
            name: dataclasses.field(default_factory=one.make) if isinstance(one, _Fresh) else one
            for name, one in self._defaults.items()
        }
        twin = dataclasses.dataclass(type(owner.__name__, (), {**body, "__annotations__": self._annotations}))
        return twin.__dataclass_fields__


if TYPE_CHECKING:

    @dataclass_transform(frozen_default=True, field_specifiers=(fresh,))
    def record(frozen: bool = True) -> Callable[[type[T]], type[T]]: ...

else:

    def record(frozen=True):
        """Make a class of annotated fields one of values.

        Args:
            frozen: no field can be set again, and values can be keys.
        """
        return lambda cls: _made(cls, frozen)


def _made(cls: type, frozen: bool) -> type:
    body = dict(cls.__dict__)
    annotations = body.get("__annotations__", {})
    names = tuple(annotations)
    defaults = {name: body.pop(name) for name in names if name in body}
    for name in ("__dict__", "__weakref__"):
        body.pop(name, None)
    body.update(
        __slots__=names,
        __match_args__=names,
        __init__=_init(cls.__name__, names, defaults),
        __eq__=_equal,
        __repr__=_repr,
        __reduce__=_reduce,
        __dataclass_fields__=_AsDataclass(annotations, defaults),
        __hash__=_hash if frozen else None,
    )
    if frozen:
        body.update(__setattr__=_no_set, __delattr__=_no_delete)
    return type(cls)(cls.__name__, cls.__bases__, body)


def _init(owner: str, names: tuple[str, ...], defaults: dict[str, Any]) -> Callable[..., None]:
    put = object.__setattr__
    known = frozenset(names)

    def __init__(self: object, *args: Any, **named: Any) -> None:
        if len(args) > len(names) or not named.keys() <= known:
            raise TypeError(f"{owner} has the fields {', '.join(names)}")
        for name, given in zip(names, args, strict=False):
            if name in named:
                raise TypeError(f"{owner} got `{name}` twice")
            put(self, name, given)
        for name in names[len(args) :]:
            if name in named:
                put(self, name, named[name])
            elif name in defaults:
                found = defaults[name]
                put(self, name, found.make() if isinstance(found, _Fresh) else found)
            else:
                raise TypeError(f"{owner} needs `{name}`")

    return __init__


def _fields(self: Any) -> tuple[Any, ...]:
    return tuple(getattr(self, name) for name in self.__slots__)


def _equal(self: Any, other: object) -> Any:
    return _fields(self) == _fields(other) if other.__class__ is self.__class__ else NotImplemented


def _hash(self: Any) -> int:
    return hash(_fields(self))


def _repr(self: Any) -> str:
    words = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
    return f"{self.__class__.__qualname__}({words})"


def _reduce(self: Any) -> tuple[Any, ...]:
    return self.__class__, _fields(self)


def _no_set(self: object, name: str, given: object) -> None:
    raise AttributeError(f"cannot set `{name}`: {self.__class__.__name__} is a record")


def _no_delete(self: object, name: str) -> None:
    raise AttributeError(f"cannot delete `{name}`: {self.__class__.__name__} is a record")
