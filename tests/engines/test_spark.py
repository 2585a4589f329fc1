"""The conduct of the Spark engine: it works beside the user's session and leaves it as it was."""

import builtins

import pytest

from discreet.errors import InvalidParameter, MissingExtra
from discreet.tables.engines.spark import SparkEngine

pytestmark = [
    pytest.mark.xdist_group("engines"),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]


@pytest.fixture
def engine(spark_session):
    engine = SparkEngine(spark_session)
    yield engine
    engine.close()


def test_frames_and_tables_are_attached_by_their_schemas(engine, spark_session):
    frame = spark_session.sql("SELECT 1 AS a, 'x' AS `b c`, array(1) AS l, CAST(1 AS DECIMAL(9, 2)) AS d")
    relation = engine.attach("t", frame)
    assert relation.columns == {"a": "int", "b c": "str", "l": "other", "d": "decimal"}
    assert engine.run(f"SELECT `b c` FROM {relation.sql}").to_pylist() == [{"b c": "x"}]
    frame.createOrReplaceTempView("my_view")
    named = engine.attach("t", "my_view")
    assert engine.run(f"SELECT COUNT(*) AS n FROM {named.sql}").to_pylist() == [{"n": 1}]


def test_what_is_not_there_is_refused(engine, spark_session):
    with pytest.raises(InvalidParameter, match="no table nowhere"):
        engine.attach("t", "nowhere")
    with pytest.raises(InvalidParameter, match="DataFrame"):
        engine.attach("t", 5)
    with pytest.raises(InvalidParameter, match="SparkSession"):
        SparkEngine("local")
    with pytest.raises(InvalidParameter, match="same name"):
        engine.attach("t", spark_session.sql("SELECT 1 AS a, 2 AS a"))


def test_settings_of_the_user_change_no_meaning_and_stay_as_they_are(spark_session):
    settings = {
        "spark.sql.session.timeZone": "America/New_York",
        "spark.sql.parser.escapedStringLiterals": "true",
        "spark.sql.caseSensitive": "false",
        "spark.sql.ansi.enabled": "false",
        "spark.sql.shuffle.partitions": "3",
    }
    before = {name: spark_session.conf.get(name) for name in settings}
    try:
        for name, value in settings.items():
            spark_session.conf.set(name, value)
        engine = SparkEngine(spark_session)
        d = engine.dialect
        (row,) = engine.run(
            f"SELECT {d.string(chr(92) + 'n${spark.app.name}')} AS s, CAST(CAST(0 AS TIMESTAMP_LTZ) AS STRING) AS t, "
            f"{d.matches(d.string('1' + chr(10)), '1')} AS m"
        ).to_pylist()
        assert row == {"s": "\\n${spark.app.name}", "t": "1970-01-01 00:00:00", "m": False}
        assert engine.run("SET spark.sql.shuffle.partitions").column("value").to_pylist() == ["3"]
        engine.close()
        assert {name: spark_session.conf.get(name) for name in settings} == settings
    finally:
        for name, value in before.items():
            spark_session.conf.set(name, value)


def test_closing_takes_the_views_back(spark_session):
    engine = SparkEngine(spark_session)
    relation = engine.attach("t", spark_session.sql("SELECT 1 AS a"))
    engine.close()
    assert not spark_session.catalog.tableExists(relation.sql.replace("`", ""))
    assert spark_session.sql("SELECT 1 AS a").count() == 1


def test_without_pyspark_the_error_says_what_to_install(monkeypatch):
    original = builtins.__import__

    def refuse(name, *rest):
        if name.startswith("pyspark"):
            raise ImportError
        return original(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtra, match=r"discreet\[spark\]"):
        SparkEngine(None)
