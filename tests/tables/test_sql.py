"""Each element of the grammar gives the query that Python builds."""

import subprocess
import sys
from datetime import date, datetime

import pytest

from discreet.errors import InvalidParameter, InvalidQuery, MissingExtra
from discreet.tables.aggregates import (
    correlation,
    count,
    count_distinct,
    covariance,
    max,  # noqa: A004
    mean,
    median,
    min,  # noqa: A004
    quantile,
    quantiles,
    stddev,
    sum,  # noqa: A004
    variance,
)
from discreet.tables.expressions import Call, Name, col, lit, when
from discreet.tables.query import Query
from discreet.tables.sql import parse
from discreet.tables.sql.shape import shape

TABLES = {
    "visits": ["person", "city", "day", "time", "amount", "age", "note", "flag", "Größe", "odd name"],
    "regions": ["city", "region", "country"],
    "people": ["person", "born", "email"],
}


def same(query, other):
    """Whether two queries have the same parts; expressions cannot be compared with ``==``."""
    return (
        repr(query) == repr(other)
        and (query.table, query.order, query.most, query.epsilon, query.delta)
        == (other.table, other.order, other.most, other.epsilon, other.delta)
        and [(j.table, j.on, j.outer) for j in query.joins] == [(j.table, j.on, j.outer) for j in other.joins]
        and [shape(f) for f in query.filters] == [shape(f) for f in other.filters]
        and [(n, shape(k)) for n, k in query.keys] == [(n, shape(k)) for n, k in other.keys]
        and [(n, shape(a)) for n, a in query.aggregates] == [(n, shape(a)) for n, a in other.aggregates]
        and (query.kept is None) == (other.kept is None)
        and (query.kept is None or shape(query.kept) == shape(other.kept))
    )


def agrees(text, query):
    parsed = parse(text, TABLES)
    assert parsed.text == text
    assert same(parsed, query), f"{parsed!r} is not {query!r}"


V = Query("visits")
amount, city, day = col("amount"), col("city"), col("day")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("amount + 1", amount + 1),
        ("amount - age", amount - col("age")),
        ("amount * 2.5", amount * 2.5),
        ("amount / age", amount / col("age")),
        ("1 + amount * 2", 1 + amount * 2),
        ("(1 + amount) * 2", (1 + amount) * 2),
        ("-amount", -amount),
        ("amount * -2", amount * -2),
        ("- FLOOR(amount)", -amount.floor()),
        ("FLOOR(-amount)", (-amount).floor()),
        ("1e3 * amount", 1e3 * amount),
        (".5 * amount", 0.5 * amount),
        ("9007199254740992", lit(2**53)),
        ("-9007199254740992", lit(-(2**53))),
        ("'it''s'", lit("it's")),
        ("'a;b -- c /* d */'", lit("a;b -- c /* d */")),
        ("'a\\nb'", lit("a\\nb")),
        ("TRUE", lit(True)),
        ("NULL", lit(None)),
        ("DATE '2026-01-31'", lit(date(2026, 1, 31))),
        ("CAST('2026-01-31' AS DATE)", lit(date(2026, 1, 31))),
        ("TIMESTAMP '2026-01-31 12:30:00'", lit(datetime(2026, 1, 31, 12, 30))),  # noqa: DTZ001
        ("amount = 1", amount == 1),
        ("amount <> 1", amount != 1),
        ("amount != 1", amount != 1),
        ("amount < 1", amount < 1),
        ("amount <= 1", amount <= 1),
        ("amount > 1", amount > 1),
        ("amount >= 1", amount >= 1),
        ("amount > 1 AND age > 2 OR NOT flag", ((amount > 1) & (col("age") > 2)) | ~col("flag")),
        ("amount BETWEEN 1 AND 2", amount.between(1, 2)),
        ("amount NOT BETWEEN 1 AND 2", ~amount.between(1, 2)),
        ("city IN ('Oslo', 'Bergen')", city.isin(["Oslo", "Bergen"])),
        ("age IN (1, -2)", col("age").isin([1, -2])),
        ("day IN (DATE '2026-01-31')", day.isin([date(2026, 1, 31)])),
        ("city NOT IN ('Oslo')", ~city.isin(["Oslo"])),
        ("city IS NULL", city.is_null()),
        ("city IS NOT NULL", ~city.is_null()),
        ("city LIKE 'O%'", Call("like", (city,), ("O%",))),
        ("city NOT LIKE 'O%'", ~Call("like", (city,), ("O%",))),
        ("CASE WHEN age < 18 THEN 'minor' ELSE 'adult' END", when(col("age") < 18, "minor").otherwise("adult")),
        ("CASE WHEN age < 18 THEN 1 END", when(col("age") < 18, 1).otherwise(None)),
        (
            "CASE age WHEN 1 THEN 'a' WHEN 2 THEN 'b' END",
            when(col("age") == 1, "a").when(col("age") == 2, "b").otherwise(None),
        ),
        ("COALESCE(city, note, 'none')", city.fill(col("note")).fill("none")),
        ("IFNULL(city, 'none')", city.fill("none")),
        ("NULLIF(amount, 0)", when(amount == 0, None).otherwise(amount)),
        ("CAST(amount AS INT)", amount.cast("int")),
        ("CAST(amount AS INTEGER)", amount.cast("int")),
        ("CAST(amount AS BIGINT)", amount.cast("int")),
        ("CAST(note AS DOUBLE)", col("note").cast("float")),
        ("CAST(note AS FLOAT)", col("note").cast("float")),
        ("CAST(age AS VARCHAR)", col("age").cast("str")),
        ("CAST(age AS TEXT)", col("age").cast("str")),
        ("TRY_CAST(note AS DATE)", col("note").cast("date")),
        ("note::boolean", col("note").cast("bool")),
        ("ABS(amount)", abs(amount)),
        ("FLOOR(amount)", amount.floor()),
        ("CEIL(amount)", amount.ceil()),
        ("CEILING(amount)", amount.ceil()),
        ("ROUND(amount)", amount.round()),
        ("SQRT(amount)", amount.sqrt()),
        ("LOWER(city)", city.lower()),
        ("UPPER(city)", city.upper()),
        ("TRIM(city)", city.trim()),
        ("LENGTH(city)", city.length()),
        ("SUBSTRING(city, 2, 3)", city.slice(2, 3)),
        ("SUBSTRING(city FROM 2 FOR 3)", city.slice(2, 3)),
        ("SUBSTR(city, 2)", city.slice(2, 2**31 - 1)),
        ("city || '-' || note", city.concat("-").concat(col("note"))),
        ("CONCAT(city, '-', note)", city.concat("-").concat(col("note"))),
        ("REPLACE(city, 'a', 'b')", city.replace("a", "b")),
        ("STARTS_WITH(city, 'O')", city.startswith("O")),
        ("ENDS_WITH(city, 'o')", city.endswith("o")),
        ("CONTAINS(city, 's')", city.contains("s")),
        ("EXTRACT(YEAR FROM day)", day.year()),
        ("EXTRACT(month FROM day)", day.month()),
        ("EXTRACT('day' FROM day)", day.day()),
        ("EXTRACT(ISODOW FROM day)", day.weekday()),
        ("EXTRACT(HOUR FROM time)", col("time").hour()),
        ("YEAR(day)", day.year()),
        ("MONTH(day)", day.month()),
        ("DAY(day)", day.day()),
        ("HOUR(time)", col("time").hour()),
        ("DATE_TRUNC('month', day)", day.month_start()),
        ("day - DATE '2026-01-01'", day - date(2026, 1, 1)),
        ("LEAST(GREATEST(amount, 0), 100)", amount.clip(0, 100)),
        ("GREATEST(LEAST(amount, 100), -1.5)", amount.clip(-1.5, 100)),
        ("CLIP(amount, -10, 100)", amount.clip(-10, 100)),
        ("BIN(amount, 0, 10, 20.5)", amount.bin([0, 10, 20.5])),
    ],
)
def test_expressions(text, expected):
    agrees(f"SELECT COUNT({text}) AS n FROM visits", V.agg(n=count(expected)))
    agrees(f"SELECT COUNT(*) AS n FROM visits WHERE {text}", V.where(expected).agg(n=count()))
    agrees(f"SELECT COUNT(*) AS n FROM (SELECT {text} AS x FROM visits) WHERE x", V.where(expected).agg(n=count()))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("COUNT(*)", count()),
        ("COUNT(amount)", count("amount")),
        ("COUNT(DISTINCT person)", count_distinct("person")),
        ("COUNT(CASE WHEN age > 3 THEN 1 END)", count(when(col("age") > 3, 1).otherwise(None))),
        ("SUM(amount)", sum("amount")),
        ("AVG(amount)", mean("amount")),
        ("VARIANCE(amount)", variance("amount")),
        ("VAR_POP(amount)", variance("amount")),
        ("STDDEV(amount)", stddev("amount")),
        ("STDDEV_POP(amount)", stddev("amount")),
        ("MIN(amount)", min("amount")),
        ("MAX(amount)", max("amount")),
        ("MEDIAN(amount)", median("amount")),
        ("PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY amount)", quantile("amount", 0.25)),
        ("PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY amount ASC)", quantile("amount", 0.25)),
        ("QUANTILE_CONT(amount, 0.25)", quantile("amount", 0.25)),
        ("QUANTILE_CONT(amount, [0.25, 0.5, 0.75])", quantiles("amount", [0.25, 0.5, 0.75])),
        ("APPROX_QUANTILE(amount, 0.9)", quantile("amount", 0.9)),
        ("COVAR_POP(amount, age)", covariance("amount", "age")),
        ("CORR(amount, age)", correlation("amount", "age")),
        ("(COUNT(*))", count()),
        ("SUM(amount) FILTER (WHERE age > 3)", sum(when(col("age") > 3, amount).otherwise(None))),
        ("COUNT(*) FILTER (WHERE age > 3)", count(when(col("age") > 3, 1).otherwise(None))),
        ("COUNT(DISTINCT city) FILTER (WHERE flag)", count_distinct(when(col("flag"), city).otherwise(None))),
        (
            "CORR(amount, age) FILTER (WHERE flag)",
            correlation(when(col("flag"), amount).otherwise(None), when(col("flag"), col("age")).otherwise(None)),
        ),
        (
            "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY amount) FILTER (WHERE flag)",
            median(when(col("flag"), amount).otherwise(None)),
        ),
    ],
)
def test_aggregates(text, expected):
    agrees(f"SELECT {text} AS a FROM visits", V.agg(a=expected))
    agrees(f"select {text.lower()} a from visits;", V.agg(a=expected))
    kept = f"SELECT city, {text} AS a FROM visits GROUP BY 1 HAVING {text} > 3 ORDER BY {text} DESC"
    agrees(kept, V.group_by("city").agg(a=expected).having(col("a") > 3).order_by("a", descending=True))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("COUNT(*)", "count"),
        ("COUNT(amount)", "count_amount"),
        ("COUNT(DISTINCT city)", "count_distinct_city"),
        ("Avg(v.amount)", "avg_amount"),
        ("SUM(amount + 1)", "sum"),
        ("QUANTILE_CONT(amount, 0.5)", "quantile_cont_amount"),
        ("PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY amount)", "percentile_cont_amount"),
        ("CORR(amount, age)", "corr_amount_age"),
    ],
)
def test_columns_without_a_name_get_one(text, name):
    assert [one for one, _ in parse(f"SELECT {text} FROM visits v", TABLES).aggregates] == [name]


GROUPED = V.group_by("city").agg(n=count())


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("SELECT city, COUNT(*) AS n FROM visits GROUP BY city", GROUPED),
        ("SELECT city, COUNT(*) AS n FROM visits GROUP BY 1", GROUPED),
        ("SELECT city, COUNT(*) AS n FROM visits GROUP BY city, 1, visits.city", GROUPED),
        ("SELECT COUNT(*) AS n, city FROM visits GROUP BY city", GROUPED),
        ("SELECT CITY AS city, COUNT(*) AS n FROM VISITS v GROUP BY v.City", GROUPED),
        ('SELECT "city", COUNT(*) AS "n" FROM `visits` GROUP BY "city"', GROUPED),
        ("SELECT city AS c, COUNT(*) AS n FROM visits GROUP BY c", V.group_by(c=city).agg(n=count())),
        ("SELECT city AS c, COUNT(*) AS n FROM visits GROUP BY city", V.group_by(c=city).agg(n=count())),
        (
            "SELECT MONTH(day) AS m, LOWER(city) AS c, COUNT(*) AS n FROM visits GROUP BY m, LOWER(city)",
            V.group_by(m=day.month(), c=city.lower()).agg(n=count()),
        ),
        (
            "SELECT LOWER(city) AS city, COUNT(*) AS n FROM visits GROUP BY LOWER(city)",
            V.group_by(city=city.lower()).agg(n=count()),
        ),
        (
            "SELECT BIN(age, 0, 18, 120) AS age, COUNT(*) AS n FROM visits GROUP BY 1",
            V.histogram("age", [0, 18, 120]),
        ),
        ('SELECT größe, COUNT(*) AS "数" FROM visits GROUP BY GRÖßE', V.group_by(größe=col("Größe")).agg(数=count())),
        ('SELECT COUNT("odd name") AS n FROM visits', V.agg(n=count(Name("odd name")))),
    ],
)
def test_groups_and_names(text, query):
    agrees(text, query)


def test_names_of_python_parameters_are_names_like_others():
    query = parse('SELECT city AS "keys", COUNT(*) AS "self", SUM(age) AS "columns" FROM visits GROUP BY 1', TABLES)
    assert [name for name, _ in (*query.keys, *query.aggregates)] == ["keys", "self", "columns"]


@pytest.mark.parametrize(
    ("tail", "query"),
    [
        ("HAVING n > 10", GROUPED.having(col("n") > 10)),
        ("HAVING COUNT(*) > 10 AND city <> 'Oslo'", GROUPED.having((col("n") > 10) & (col("city") != "Oslo"))),
        ("HAVING N * 2 BETWEEN 1 AND 5", GROUPED.having((col("n") * 2).between(1, 5))),
        ("ORDER BY n", GROUPED.order_by("n")),
        ("ORDER BY 2 DESC, visits.city ASC", GROUPED.order_by("n", descending=True).order_by("city")),
        ("ORDER BY COUNT(*) DESC NULLS LAST", GROUPED.order_by("n", descending=True)),
        ("ORDER BY (n)", GROUPED.order_by("n")),
        ("LIMIT 5", GROUPED.limit(5)),
        ("LIMIT 0", GROUPED.limit(0)),
    ],
)
def test_released_columns(tail, query):
    agrees(f"SELECT city, COUNT(*) AS n FROM visits GROUP BY city {tail}", query)


def test_a_computed_key_is_found_by_its_spelling():
    agrees(
        "SELECT LOWER(city) AS c, COUNT(*) AS n FROM visits GROUP BY c "
        "HAVING LOWER(city) <> 'oslo' ORDER BY LOWER(city)",
        V.group_by(c=city.lower()).agg(n=count()).having(col("c") != "oslo").order_by("c"),
    )


@pytest.mark.parametrize(
    ("source", "query"),
    [
        ("visits JOIN regions USING (city)", V.join("regions", on="city")),
        ("visits v JOIN regions r ON v.city = r.city", V.join("regions", on="city")),
        ("visits INNER JOIN regions AS r ON r.city = visits.city", V.join("regions", on="city")),
        ("visits v LEFT JOIN regions r ON (v.city = r.city)", V.join("regions", on="city", how="left")),
        ("visits v LEFT OUTER JOIN regions r USING (CITY)", V.join("regions", on="city", how="left")),
        (
            "visits v JOIN regions r ON note = r.city AND v.city = country",
            V.join("regions", on={"note": "city", "city": "country"}),
        ),
        (
            "visits v JOIN regions USING (city) JOIN people USING (person)",
            V.join("regions", on="city").join("people", on="person"),
        ),
        (
            "people JOIN visits USING (person) LEFT JOIN regions USING (city)",
            Query("people").join("visits", on="person").join("regions", on="city", how="left"),
        ),
        (
            "people p JOIN visits v ON p.person = v.person JOIN regions r ON r.city = v.city AND p.person = r.country",
            Query("people")
            .join("visits", on="person")
            .join("regions", on={"city": "city", "people.person": "country"}),
        ),
    ],
)
def test_joins(source, query):
    agrees(f"SELECT COUNT(*) AS n FROM {source}", query.agg(n=count()))


def test_columns_that_several_tables_have_keep_their_table():
    joined = V.join("regions", on="city")
    agrees(
        "SELECT region, COUNT(DISTINCT v.city) AS a, COUNT(r.city) AS b FROM visits v JOIN regions r USING (city) "
        "WHERE city <> 'Oslo' GROUP BY region",
        joined.where(col("visits.city") != "Oslo")
        .group_by("region")
        .agg(a=count_distinct("visits.city"), b=count("regions.city")),
    )


FILTERED = V.where(col("age") > 3)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("SELECT COUNT(*) AS n FROM (SELECT * FROM visits WHERE age > 3)", FILTERED.agg(n=count())),
        ("SELECT COUNT(*) AS n FROM (SELECT v.* FROM visits v WHERE age > 3) x", FILTERED.agg(n=count())),
        (
            "SELECT SUM(x.d) AS s FROM (SELECT amount * 2 AS d FROM visits WHERE age > 3) AS x WHERE x.d > 1",
            FILTERED.where(amount * 2 > 1).agg(s=sum(amount * 2)),
        ),
        (
            """WITH a AS (SELECT city AS x, age FROM visits WHERE age > 3), b AS (SELECT x AS y FROM a WHERE x <> 'x')
               SELECT y AS town, COUNT(*) AS n FROM b GROUP BY town""",
            FILTERED.where(city != "x").group_by(town=city).agg(n=count()),
        ),
        (
            "WITH visits AS (SELECT * FROM visits WHERE age > 3) SELECT COUNT(*) AS n FROM visits",
            FILTERED.agg(n=count()),
        ),
        ("WITH unused AS (SELECT * FROM people) SELECT COUNT(*) AS n FROM visits", V.agg(n=count())),
        (
            "SELECT COUNT(*) AS n FROM (WITH a AS (SELECT age FROM visits WHERE age > 3) SELECT * FROM a)",
            FILTERED.agg(n=count()),
        ),
        (
            "SELECT age, COUNT(*) AS n FROM (SELECT amount AS age FROM visits) GROUP BY age",
            V.group_by(age=amount).agg(n=count()),
        ),
        (
            """SELECT zone, COUNT(*) AS n FROM visits v JOIN (SELECT city AS c, UPPER(region) AS zone FROM regions
               WHERE country = 'NO') r ON c = v.city WHERE age > 3 GROUP BY zone""",
            V.join("regions", on="city")
            .where(col("country") == "NO", col("age") > 3)
            .group_by(zone=col("region").upper())
            .agg(n=count()),
        ),
        (
            "SELECT COUNT(r) AS n FROM visits v LEFT JOIN (SELECT city AS c, region AS r FROM regions) x ON c = city",
            V.join("regions", on="city", how="left").agg(n=count("region")),
        ),
        (
            """SELECT AVG(a) AS a FROM (SELECT amount + 1 AS a, region AS r FROM visits JOIN regions USING (city))
               WHERE r = 'N'""",
            V.join("regions", on="city").where(col("region") == "N").agg(a=mean(amount + 1)),
        ),
    ],
)
def test_queries_in_from_are_written_into_the_query(text, query):
    agrees(text, query)


@pytest.mark.parametrize(
    ("clause", "epsilon", "delta"),
    [
        ("", None, None),
        ("OPTIONS()", None, None),
        ("OPTIONS(epsilon=0.5)", 0.5, None),
        ("OPTIONS (EPSILON = 2, Delta = 1e-6)", 2, 1e-6),
        ("OPTIONS(delta=0 /* ) */)", None, 0),
        ("/* OPTIONS(epsilon=9) */ OPTIONS(epsilon=1) -- OPTIONS(epsilon=8)\n", 1, None),
    ],
)
def test_the_clause_of_googlesql(clause, epsilon, delta):
    text = f"SELECT WITH DIFFERENTIAL_PRIVACY {clause} city, COUNT(*) AS n FROM visits GROUP BY city"
    query = parse(text, TABLES)
    assert repr(query) == repr(GROUPED)
    assert (query.epsilon, query.delta, query.text) == (epsilon, delta, text)
    query = parse(f"WITH a AS (SELECT * FROM visits) {text.replace('FROM visits', 'FROM a')}", TABLES)
    assert repr(query) == repr(GROUPED)
    assert (query.epsilon, query.delta) == (epsilon, delta)


def test_the_clause_inside_strings_and_names_is_text():
    text = "SELECT COUNT(*) AS \"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=9)\" FROM visits WHERE city = 'SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=9)'"  # noqa: E501
    query = parse(text, TABLES)
    assert query.epsilon is None
    assert shape(query.filters[0]) == shape(city == "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=9)")


@pytest.mark.parametrize(
    "comment", ["-- x\n", "/* ; DROP TABLE visits */", "/* /* nested */ */", "-- SELECT\n", "/* ' */", '-- "\n', "/**/"]
)
def test_comments_are_harmless(comment):
    agrees(
        f"{comment} SELECT city {comment}, COUNT(*) {comment} AS n FROM visits {comment} GROUP BY city {comment} ;",
        GROUPED,
    )


def test_names_that_differ_by_case_alone_are_told_apart():
    tables = {"t": ["ID", "id", "Id2"]}
    assert repr(parse("SELECT COUNT(id) AS n FROM t", tables)) == repr(Query("t").agg(n=count("id")))
    assert repr(parse('SELECT COUNT("ID") AS n FROM t', tables)) == repr(Query("t").agg(n=count("ID")))
    assert repr(parse("SELECT COUNT(ID2) AS n FROM t", tables)) == repr(Query("t").agg(n=count("Id2")))
    with pytest.raises(InvalidQuery, match="may mean 'ID', 'id'"):
        parse("SELECT COUNT(iD) AS n FROM t", tables)
    with pytest.raises(InvalidQuery, match="There are: 'ID', 'Id2', 'id'"):
        parse('SELECT COUNT("id2") AS n FROM t', tables)


def test_a_name_that_means_two_columns_of_the_answer_is_refused():
    text = "SELECT city AS note, note AS city, COUNT(*) AS n FROM visits GROUP BY visits.city, visits.note"
    assert [name for name, _ in parse(text, TABLES).keys] == ["note", "city"]
    for tail in ("HAVING city = 'Oslo'", "ORDER BY city"):
        with pytest.raises(InvalidQuery, match="'city' may mean 'city', 'note'"):
            parse(f"{text} {tail}", TABLES)


def test_the_error_is_one_of_parameters():
    assert issubclass(InvalidQuery, InvalidParameter)


def test_sqlglot_is_loaded_only_when_it_is_needed():
    code = "import sys, discreet.tables.sql; print('sqlglot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_without_sqlglot_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    with pytest.raises(MissingExtra, match=r"discreet\[tables\]"):
        parse("SELECT COUNT(*) AS n FROM visits", TABLES)
