"""Columns of several files must be matched by their names.

A glob of CSV files took the names of the first file and mapped the others by position. With user, city, amount in one
file and amount, city, user in the next, persons were read from the amounts of the second: one person moved a count by a
thousand where one was claimed, and the release was certified and verified.

Defence: columns are matched by name in every format; files whose names or types differ are refused when they are
opened, before anything is charged; columns that change later, also while rows are read, end in an error, not in a
mixed-up release. Names of folders are no columns, and a file that a pattern reaches several times is read once.
Source: Found by using this library: monthly exports with permuted columns.
"""

import glob
import gzip
import json

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.errors import InvalidInput, InvalidParameter, ReleaseFailed
from discreet.publishing import shape
from discreet.publishing.shape import shape_of
from discreet.tables.engines.duckdb import DuckDBEngine

FIRST = {"user": [1, 2, 3], "city": ["a", "b", "a"], "amount": [10, 20, 30]}
MORE = 1000
SECOND = {"amount": list(range(100, 100 + MORE)), "city": ["c"] * MORE, "user": [4] * MORE}
KINDS = ["csv", "tsv", "csv.gz", "parquet", "jsonl", "json"]
SCHEMA = {"amount": dp.Bounds(0, 2000, type="int"), "user": "str", "city": "str"}


def write(path, kind, columns):
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if kind == "parquet":
        pq.write_table(pa.table(columns), path)
    elif kind == "json":
        path.write_text(json.dumps(rows), encoding="utf-8")
    elif kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    else:
        comma = "\t" if kind == "tsv" else ","
        lines = [list(columns), *(list(map(str, row.values())) for row in rows)]
        text = "".join(comma.join(line) + "\n" for line in lines).encode()
        path.write_bytes(gzip.compress(text) if kind.endswith(".gz") else text)


def exported(folder, kind, *parts):
    for place, part in enumerate(parts):
        write(folder / f"p{place}.{kind}", kind, part)
    return str(folder / f"*.{kind}")


def opened(source, **settings):
    unit = dp.Person("user", groups=1, rows=1)
    return dp.Session(source, name="t", schema=SCHEMA, unit=unit, budget=dp.Budget(1e9, 1e-6), **settings)


def moved(folder, kind, **settings):
    """Return by how much the one person of the second file changes the number of rows that count."""
    counts = []
    for parts in ((FIRST, SECOND), (FIRST, {name: [] for name in SECOND} if kind == "csv" else FIRST)):
        place = folder / str(len(counts))
        place.mkdir()
        source = exported(place, kind, *parts)
        counts.append(opened(source, **settings).release("SELECT COUNT(*) AS n FROM t", epsilon=1e6)["n"].tolist()[0])
    return abs(counts[0] - counts[1])


@pytest.mark.parametrize("kind", KINDS)
def test_columns_are_matched_by_name(tmp_path, kind):
    session = opened(exported(tmp_path, kind, FIRST, SECOND))
    assert session.release("SELECT COUNT(*) AS n FROM t", epsilon=1e6)["n"].tolist() == [4]
    rows = session.release("SELECT COUNT(DISTINCT user) AS n, SUM(amount) AS s FROM t WHERE city = 'a'", epsilon=1e8)
    assert (rows["n"].tolist(), rows["s"].tolist()) == ([2], [40])


def test_one_person_moves_a_count_by_one(tmp_path):
    assert moved(tmp_path, "csv") == 1


@pytest.mark.parametrize("kind", ["csv", "tsv", "csv.gz", "parquet"])
@pytest.mark.parametrize(
    "other",
    [
        {"user": [4], "city": ["c"]},
        {"user": [4], "city": ["c"], "amount": [1], "more": [2]},
        {"user": [4], "city": ["c"], "sum": [1]},
        {"User": [4], "city": ["c"], "amount": [1]},
        {"user ": [4], "city": ["c"], "amount": [1]},
    ],
    ids=["fewer", "more", "another name", "another case", "a blank"],
)
def test_files_whose_columns_differ_are_refused(tmp_path, kind, other):
    for place, parts in enumerate(((FIRST, other), (other, FIRST))):
        folder = tmp_path / str(place)
        folder.mkdir()
        with pytest.raises(InvalidParameter, match="same names"):
            opened(exported(folder, kind, *parts))


@pytest.mark.parametrize("other", [pa.float64(), pa.int32(), pa.string(), pa.decimal128(21, 2)])
def test_files_whose_types_differ_are_refused(tmp_path, other):
    """A value that does not fit into the type of the first file would make every release fail."""
    write(tmp_path / "p0.parquet", "parquet", FIRST)
    column = pa.array([1], pa.int64()).cast(other)
    pq.write_table(pa.table({"user": [4], "city": ["c"], "amount": column}), tmp_path / "p1.parquet")
    with pytest.raises(InvalidParameter, match="one type in all files"):
        opened(str(tmp_path / "*.parquet"))


def test_a_file_without_a_header_shows_no_value(tmp_path):
    write(tmp_path / "p0.csv", "csv", FIRST)
    (tmp_path / "p1.csv").write_text("7,secret,9\n8,x,1\n", encoding="utf-8")
    with pytest.raises(InvalidParameter, match="other columns") as refused:
        opened(str(tmp_path / "*.csv"))
    assert "secret" not in str(refused.value)
    with pytest.raises(shape.Headless):
        shape_of(str(tmp_path / "*.csv"), "t")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_shape_of_files_that_differ_is_refused(tmp_path, kind):
    source = exported(tmp_path, kind, FIRST, {"user": [4], "city": ["c"]})
    with pytest.raises(InvalidParameter, match="same names"):
        shape_of(source, "t")


def test_files_that_come_later_belong_to_no_open_session(tmp_path):
    session = opened(exported(tmp_path, "csv", FIRST))
    write(tmp_path / "p9.csv", "csv", SECOND)
    assert session.release("SELECT COUNT(*) AS n FROM t", epsilon=1e6)["n"].tolist() == [3]


def test_a_header_that_changes_later_is_found(tmp_path):
    session = opened(exported(tmp_path, "csv", FIRST))
    write(tmp_path / "p0.csv", "csv", SECOND)
    with pytest.raises(ReleaseFailed):
        session.release("SELECT COUNT(*) AS n FROM t", epsilon=1e6)


@pytest.mark.parametrize(
    "content",
    [
        "user,city\n1,a\n".encode("utf-16"),
        gzip.compress(b"user,city\n1,a\n"),
        b"user,city\x00\n1,a\n",
        b"user,city\xff\n1,a\n",
        b'user,a "city, x"\n1,a\n',
        b'user, "city,x"\n1,a\n',
        b'us"er,city\n1,a\n',
    ],
    ids=["UTF-16", "compressed", "zero", "no UTF-8", "a mark inside", "a mark after a blank", "half a mark"],
)
def test_a_first_line_that_readers_take_in_several_ways_is_refused(tmp_path, content):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(InvalidParameter, match="the first line of"):
        opened(tmp_path / "t.csv")


def test_names_may_stand_in_quotation_marks(tmp_path):
    (tmp_path / "t.csv").write_bytes(b'\xef\xbb\xbf"user","ci""ty","a,b",c d\r\n1,a,2,3\r\n')
    (tmp_path / "u.tsv").write_bytes(b'"user"\ta,b\t"c\td"\n1\ta\t2\n')
    assert list(DuckDBEngine().attach("t", tmp_path / "t.csv").columns) == ["user", 'ci"ty', "a,b", "c d"]
    assert list(DuckDBEngine().attach("u", tmp_path / "u.tsv").columns) == ["user", "a,b", "c\td"]


def test_two_columns_of_one_name_are_refused_when_a_table_is_opened():
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["user", "user"])
    with pytest.raises(InvalidInput, match="each is there once"):
        opened(table)


def test_a_header_that_changes_while_rows_are_read_is_found(tmp_path, monkeypatch):
    """The header is read in the turn of the query, and once more after it."""
    session = opened(exported(tmp_path, "csv", FIRST))
    looked, check = [], DuckDBEngine._check_sources

    def raced(engine):
        check(engine)
        looked.append(engine._lock._is_owned())
        if len(looked) == 1:
            write(tmp_path / "p0.csv", "csv", SECOND)

    monkeypatch.setattr(DuckDBEngine, "_check_sources", raced)
    with pytest.raises(ReleaseFailed):
        session.release("SELECT COUNT(*) AS n FROM t", epsilon=1e6)
    assert looked == [True]


def test_names_of_files_are_no_patterns(tmp_path):
    for name in ("a[1].csv", "a*.csv", "a?.csv", "a'b.csv", "a1.csv"):
        write(tmp_path / name, "csv", FIRST | {"user": [len(name), 50, 60]})
    session = opened(str(tmp_path / "a*.csv"))
    assert session.release("SELECT COUNT(*) AS n FROM t", epsilon=1e6)["n"].tolist() == [5]  # five persons
    session = opened(str(tmp_path / "a[[]1].csv"))
    assert session.release("SELECT COUNT(*) AS n FROM t", epsilon=1e6)["n"].tolist() == [3]


def test_a_folder_is_refused_with_what_to_write(tmp_path):
    (tmp_path / "t.parquet").mkdir()
    write(tmp_path / "t.parquet" / "p0.parquet", "parquet", FIRST)
    with pytest.raises(InvalidParameter, match=r"t\.parquet/\*\.parquet"):
        opened(tmp_path / "t.parquet")


def test_public_tables_of_several_files_are_matched_by_name(tmp_path):
    cities = exported(tmp_path, "csv", {"name": ["a"], "land": ["N"]}, {"land": ["S"], "name": ["b"]})
    session = opened(pa.table(FIRST), public={"cities": cities})
    query = session.query.join("cities", on={"city": "name"}).group_by("land").agg(n=dp.count())
    assert session.release(query, epsilon=1e6)["n"].tolist() == [2, 1]


def reached_in_several_ways(folder, kind):
    """Return patterns that name one file of three persons more than once."""
    (folder / "a" / "b").mkdir(parents=True)
    write(folder / "a" / "b" / f"x.{kind}", kind, FIRST)
    (folder / "links").mkdir()
    write(folder / "links" / f"y.{kind}", kind, FIRST)
    (folder / "links" / f"z.{kind}").symlink_to(folder / "links" / f"y.{kind}")
    (folder / "links" / f"w.{kind}").hardlink_to(folder / "links" / f"y.{kind}")
    (folder / "a" / "loop").symlink_to(folder / "a")
    return [
        f"{folder}/**/**/x.{kind}",
        f"{folder}/a/**/b/**/*.{kind}",
        f"{folder}/a/**/*.{kind}",
        f"{folder}/links/*.{kind}",
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_reached_in_several_ways_is_read_once(tmp_path, kind):
    for pattern in reached_in_several_ways(tmp_path, kind):
        session = dp.Session(pattern, name="t", schema=SCHEMA, unit=dp.Row(), budget=dp.Budget(1e9))
        assert session.release("SELECT COUNT(*) AS n FROM t", epsilon=1e6)["n"].tolist() == [3]


def test_a_link_that_leads_nowhere_is_refused(tmp_path):
    (tmp_path / "a.csv").symlink_to(tmp_path / "b.csv")
    with pytest.raises(InvalidParameter, match="leads nowhere"):
        opened(str(tmp_path / "*.csv"))


def test_a_path_is_no_pattern(tmp_path):
    write(tmp_path / "a[1].csv", "csv", FIRST)
    write(tmp_path / "a1.csv", "csv", SECOND)
    session = opened(tmp_path / "a[1].csv")
    assert session.release("SELECT COUNT(*) AS n FROM t", epsilon=1e6)["n"].tolist() == [3]
    session = opened(tmp_path / "a*.csv")
    assert session.release("SELECT COUNT(*) AS n FROM t", epsilon=1e6)["n"].tolist() == [4]


def test_a_tilde_names_one_file_alone(tmp_path, monkeypatch):
    home, here = tmp_path / "home", tmp_path / "here"
    for folder in (home, here / "~"):
        folder.mkdir(parents=True)
    write(home / "t.csv", "csv", SECOND)
    write(here / "~" / "t.csv", "csv", FIRST)
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", str(home))
    session = dp.Session("~/t.csv", name="t", schema=SCHEMA, unit=dp.Row(), budget=dp.Budget(1e9))
    assert session.release("SELECT COUNT(*) AS n FROM t", epsilon=1e6)["n"].tolist() == [3]


@pytest.mark.parametrize("kind", KINDS)
def test_names_of_folders_are_no_columns(tmp_path, kind):
    """A folder ``user=7`` would make one person of all in it, and ``city=c`` a city that no row has."""
    for folder in ("user=7", "city=c"):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder / f"x.{kind}", kind, FIRST)
        for source in (str(tmp_path / "*" / f"*.{kind}"), tmp_path / folder / f"x.{kind}"):
            answer = opened(source).release("SELECT COUNT(DISTINCT user) AS n FROM t WHERE city = 'a'", epsilon=1e6)
            assert answer["n"].tolist() == [2]


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_names_of_folders_add_no_columns(tmp_path, kind):
    (tmp_path / "year=2026").mkdir()
    write(tmp_path / "year=2026" / f"x.{kind}", kind, FIRST)
    assert set(DuckDBEngine().attach("t", str(tmp_path / "*" / f"*.{kind}")).columns) == set(FIRST)


REAL = [0.6, 0.8, 1.2, 1.4]
"""Persons that would be two, if they were read as whole numbers."""


@pytest.mark.parametrize("others", [[0, 1], [0], [1]], ids=["all", "first", "second"])
@pytest.mark.parametrize(
    "changed",
    [pa.array(REAL), pa.array(["1", "01", " 1", "+1"]), pa.array([1, 2, 3, 4], pa.int32())],
    ids=["real", "text", "short"],
)
def test_types_of_files_that_change_later_are_found(tmp_path, others, changed):
    session = opened(exported(tmp_path, "parquet", FIRST, FIRST))
    for place in others:
        columns = {"user": changed, "city": ["a"] * 4, "amount": [1] * 4}
        pq.write_table(pa.table(columns), tmp_path / f"p{place}.parquet")
    with pytest.raises(ReleaseFailed):
        session.release("SELECT COUNT(*) AS n FROM t", epsilon=1e6)


def test_rows_may_change_while_columns_stay(tmp_path):
    session = opened(exported(tmp_path, "parquet", FIRST))
    write(tmp_path / "p0.parquet", "parquet", FIRST | {"user": [1, 1, 1]})
    assert session.release("SELECT COUNT(*) AS n FROM t", epsilon=1e6)["n"].tolist() == [1]


@pytest.mark.parametrize(
    ("sql", "allowed"),
    [
        ("CREATE OR REPLACE TABLE v AS SELECT unnest([0.6, 0.8, 1.2])::DOUBLE AS who, 'a' AS city", False),
        ("CREATE OR REPLACE TABLE v AS SELECT unnest(['1', '01'])  AS who, 'a' AS city", False),
        ("ALTER TABLE v ALTER who TYPE INTEGER", False),
        ("ALTER TABLE v ADD COLUMN more BIGINT", False),
        ("ALTER TABLE v ALTER city TYPE VARCHAR COLLATE NOCASE", False),
        ("DROP TABLE v", False),
        ("INSERT INTO v VALUES (2, 'b')", True),
    ],
)
def test_a_table_of_duckdb_whose_columns_change_later_is_found(sql, allowed):
    connection = duckdb.connect()
    connection.execute("CREATE TABLE v AS SELECT 1::BIGINT AS who, 'a' AS city")
    unit = dp.Person("who", groups=1, rows=1)
    session = dp.Session("v", name="t", unit=unit, budget=dp.Budget(1e9, 1e-6), engine=connection)
    connection.execute(sql)
    if allowed:
        assert session.release("SELECT COUNT(*) AS n FROM t", epsilon=1e6)["n"].tolist() == [2]
        return
    with pytest.raises(ReleaseFailed) as failed:
        session.release("SELECT COUNT(*) AS n FROM t", epsilon=1e6)
    assert "who" not in str(failed.value)


class ByPosition(DuckDBEngine):
    """Maps all files by the header of the first: what must not exist."""

    def _separated(self, found, comma):
        from discreet.tables.engines.files import header

        columns = self._texts(header(found[0], comma))
        options = f"auto_detect = false, header = true, delim = '{comma}', columns = {columns}"
        return f"read_csv({self._listed(found)}, {options})"


def test_the_check_catches_files_that_are_matched_by_position(tmp_path):
    assert moved(tmp_path, "csv", engine=ByPosition()) > 100


def counted(source):
    """Return the rows and the persons that a session sees."""
    rows = dp.Session(source, name="t", schema=SCHEMA, unit=dp.Row(), budget=dp.Budget(1e9, 1e-6))
    found = rows.release("SELECT COUNT(*) AS n, COUNT(DISTINCT user) AS d FROM t", epsilon=1e6)
    return found["n"].tolist()[0], found["d"].tolist()[0]


def test_the_check_catches_files_that_are_read_twice_and_folders_that_are_columns(tmp_path, monkeypatch):
    (tmp_path / "user=7").mkdir()
    write(tmp_path / "user=7" / "x.parquet", "parquet", FIRST)
    (tmp_path / "user=7" / "y.parquet").symlink_to(tmp_path / "user=7" / "x.parquet")
    source = str(tmp_path / "*" / "*.parquet")
    assert counted(source) == (3, 3)
    monkeypatch.setattr("discreet.tables.engines.duckdb.files_of", lambda pattern: sorted(glob.glob(pattern)))  # noqa: PTH207
    assert counted(source) == (6, 3)
    monkeypatch.setattr("discreet.tables.engines.duckdb.PLAIN", "hive_partitioning = true")
    assert counted(source) == (6, 1)


def test_the_check_catches_sources_that_are_not_looked_at_again(tmp_path, monkeypatch):
    unit = dp.Person("user", groups=1, rows=1)
    session = dp.Session(exported(tmp_path, "parquet", FIRST), name="t", unit=unit, budget=dp.Budget(1e9, 1e-6))
    columns = {"user": pa.array(REAL), "city": ["a"] * 4, "amount": [1] * 4}
    pq.write_table(pa.table(columns), tmp_path / "p0.parquet")
    monkeypatch.setattr(DuckDBEngine, "_check_sources", lambda _: None)
    assert session.release("SELECT COUNT(*) AS n FROM t", epsilon=1e6)["n"].tolist() == [1]  # four persons are one
