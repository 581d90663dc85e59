"""Records: what hooks load instead of `dataclasses` behaves as its classes do."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys

import pytest

from gitmem.record import changed, fresh, record


@record()
class Point:
    x: int
    y: int = 2

    @property
    def sum(self) -> int:
        return self.x + self.y


@record(frozen=False)
class Bag:
    name: str
    things: list[str] = fresh(list)


def test_a_record_takes_its_fields_by_place_and_by_name() -> None:
    assert (Point(1), Point(1, 2), Point(y=2, x=1)) == (Point(x=1, y=2),) * 3
    assert Point(1, 3).sum == 4
    assert repr(Point(1)) == "Point(x=1, y=2)"


@pytest.mark.parametrize(
    ("args", "named"), [((), {}), ((1, 2, 3), {}), ((1,), {"x": 2}), ((1,), {"z": 2}), ((), {"y": 1})]
)
def test_a_record_refuses_what_does_not_fit_its_fields(args: tuple, named: dict) -> None:
    with pytest.raises(TypeError):
        Point(*args, **named)


def test_records_of_equal_fields_are_equal_and_one_key() -> None:
    assert len({Point(1), Point(1, 2), Point(2)}) == 2
    assert Point(1) != (1, 2)
    with pytest.raises(TypeError):
        hash(Bag("a"))


def test_a_frozen_record_cannot_be_changed_and_none_takes_a_field_it_has_not() -> None:
    point, bag = Point(1), Bag("a")
    with pytest.raises(AttributeError):
        point.x = 2
    with pytest.raises(AttributeError):
        del point.x
    with pytest.raises(AttributeError):
        bag.other = 1
    bag.name = "b"
    assert bag == Bag("b")


def test_a_default_that_can_change_is_made_anew_for_each_record() -> None:
    first, second = Bag("a"), Bag("a")
    first.things.append("x")
    assert second.things == []


def test_the_tools_of_dataclasses_work_on_records() -> None:
    assert dataclasses.replace(Point(1), y=5) == Point(1, 5) == changed(Point(1), y=5)
    assert dataclasses.asdict(Bag("a", ["x"])) == {"name": "a", "things": ["x"]}
    assert [(one.name, one.type) for one in dataclasses.fields(Point)] == [("x", "int"), ("y", "int")]
    assert dataclasses.is_dataclass(Point) and dataclasses.is_dataclass(Point(1))


def test_records_can_be_copied_sent_to_a_process_and_matched() -> None:
    for one in (Point(1), Bag("a", ["x"])):
        assert copy.deepcopy(one) == one
        assert pickle.loads(pickle.dumps(one)) == one
    match Point(1, 7):
        case Point(1, y):
            assert y == 7


def test_making_records_loads_no_dataclasses() -> None:
    code = (
        "import sys\nfrom gitmem.record import record\n"
        "@record()\nclass A:\n    x: int = 1\nA()\n"
        "sys.exit('dataclasses' in sys.modules or 'inspect' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", "from __future__ import annotations\n" + code], check=True)
