"""Statements, clauses and sources that are refused, by the reason that is given: the texts stand under it."""

import logging

import pytest

from discreet.errors import InvalidParameter
from discreet.tables.sql import parse
from discreet.tables.sql.refusals import REASONS, SETTINGS

TABLES = {
    "visits": ["person", "city", "day", "time", "amount", "age", "note", "flag"],
    "regions": ["city", "region", "country"],
}

REFUSED = r"""
a column of SELECT that is no aggregate shows values of rows
    SELECT city FROM visits
    SELECT city, COUNT(*) FROM visits
    SELECT UPPER(city), COUNT(*) AS n FROM visits GROUP BY city
* stands for all columns
    SELECT * FROM visits
    SELECT visits.* FROM visits
keys alone show names without protection
    SELECT city FROM visits GROUP BY city
SELECT DISTINCT shows names without protection
    SELECT DISTINCT city FROM visits
    SELECT DISTINCT ON (city) city, COUNT(*) FROM visits GROUP BY city
    SELECT COUNT(*) AS n FROM (SELECT DISTINCT city FROM visits)
every group is shown with its key
    SELECT COUNT(*) FROM visits GROUP BY city
a computed key has a name
    SELECT LOWER(city), COUNT(*) AS n FROM visits GROUP BY 1
the same key is selected twice
    SELECT city AS a, city AS b, COUNT(*) AS n FROM visits GROUP BY city
the answer would have two columns 'city'
    SELECT city, COUNT(*) AS city FROM visits GROUP BY visits.city
the answer would have two columns 'count'
    SELECT COUNT(*), COUNT(*) FROM visits
'day' is a column of the table and the name of another in SELECT
    SELECT MONTH(day) AS day, COUNT(*) AS n FROM visits GROUP BY day
an aggregate is of a group and cannot be grouped by
    SELECT COUNT(*) AS n FROM visits GROUP BY n
    SELECT COUNT(*) AS n FROM visits GROUP BY 1
GROUP BY takes names
    SELECT city, COUNT(*) AS n FROM visits GROUP BY 3
    SELECT city, COUNT(*) AS n FROM visits GROUP BY 0
    SELECT city, COUNT(*) AS n FROM visits GROUP BY 'city'
a constant makes one group of all rows
    SELECT 1 AS one, COUNT(*) AS n FROM visits GROUP BY one
GROUP BY ALL is not supported
    SELECT city, COUNT(*) AS n FROM visits GROUP BY ALL
is not standard SQL
    SELECT city, COUNT(*) AS n FROM visits GROUP BY city WITH ROLLUP
    SELECT city, COUNT(*) AS n FROM visits GROUP BY city WITH CUBE
take columns
    SELECT city, COUNT(*) AS n FROM visits GROUP BY city, ROLLUP ()
totals are a query of their own
    SELECT city, COUNT(*) AS n FROM visits GROUP BY city WITH TOTALS
calculating with aggregates inside SELECT is not supported
    SELECT SUM(amount) / COUNT(*) AS a FROM visits
    SELECT COUNT(*) + 1 AS a FROM visits
COUNT is of a group and this place is of a row
    SELECT SUM(COUNT(*)) FROM visits
HAVING and ORDER BY speak of released columns alone
    SELECT city, COUNT(*) AS n FROM visits GROUP BY city HAVING SUM(amount) > 3
there is no column 'amount' in the answer
    SELECT city, COUNT(*) AS n FROM visits GROUP BY city HAVING amount > 3
    SELECT city, COUNT(*) AS n FROM visits GROUP BY city ORDER BY amount
an answer is ordered by its columns
    SELECT city, COUNT(*) AS n FROM visits GROUP BY city ORDER BY n + 1
ORDER BY takes names
    SELECT city, COUNT(*) AS n FROM visits GROUP BY city ORDER BY 9
nulls are shown last
    SELECT city, COUNT(*) AS n FROM visits GROUP BY city ORDER BY n NULLS FIRST
there is no function
    SELECT city, COUNT(*) AS n FROM visits GROUP BY city ORDER BY RANDOM()
OFFSET is not supported
    SELECT city, COUNT(*) AS n FROM visits GROUP BY city LIMIT 5 OFFSET 2
    SELECT city, COUNT(*) AS n FROM visits GROUP BY city LIMIT 2, 5
LIMIT takes a whole number of rows
    SELECT city, COUNT(*) AS n FROM visits GROUP BY city LIMIT -1
    SELECT city, COUNT(*) AS n FROM visits GROUP BY city LIMIT 1.5
    SELECT city, COUNT(*) AS n FROM visits GROUP BY city LIMIT (SELECT 1)
the first rows are shown with LIMIT
    SELECT city, COUNT(*) AS n FROM visits GROUP BY city FETCH FIRST 5 ROWS ONLY
QUALIFY is for window functions
    SELECT city, COUNT(*) AS n FROM visits GROUP BY city QUALIFY ROW_NUMBER() OVER () = 1
the text is no SQL that can be read, from line 1 on
    SELECT TOP 5 COUNT(*) AS n FROM visits
    WITH a AS (DELETE FROM visits RETURNING *) SELECT COUNT(*) AS n FROM a
    SELECT COUNT(*) AS n FROM visits FORMAT JSON
    SELECT COUNT(*) AS n FROM visits SETTINGS max_threads = 1
    WITH a AS (SELECT 1)
a window function gives an answer for every row
    SELECT COUNT(*) AS n FROM visits WINDOW w AS (PARTITION BY city)
has no meaning where it stands
    SELECT COUNT(*) AS n FROM visits *
    SELECT COUNT(*) AS 'n' FROM visits
nulls are left out of every aggregate already
    SELECT SUM(amount) IGNORE NULLS AS s FROM visits
UNION puts several queries into one
    SELECT COUNT(*) AS n FROM visits UNION SELECT COUNT(*) FROM regions
    SELECT COUNT(*) AS n FROM visits UNION ALL SELECT 1
    SELECT COUNT(*) AS n FROM (SELECT city FROM visits UNION ALL SELECT city FROM visits)
EXCEPT compares rows of two queries
    SELECT COUNT(*) AS n FROM visits EXCEPT SELECT 1
INTERSECT compares rows of two queries
    SELECT COUNT(*) AS n FROM visits INTERSECT SELECT 1
a subquery that aggregates is not supported
    SELECT COUNT(*) AS n FROM (SELECT city, COUNT(*) AS c FROM visits GROUP BY city)
    SELECT COUNT(*) AS n FROM (SELECT COUNT(*) AS c FROM visits)
LIMIT in a subquery picks rows by their place
    SELECT COUNT(*) AS n FROM (SELECT city FROM visits LIMIT 1)
ORDER BY in a subquery orders nothing that is shown
    SELECT COUNT(*) AS n FROM (SELECT city FROM visits ORDER BY day)
a computed column of a subquery has a name
    SELECT COUNT(*) AS n FROM (SELECT LOWER(city) FROM visits)
a subquery has two columns 'city'
    SELECT COUNT(*) AS n FROM (SELECT city, city FROM visits)
VALUES is no table of this session
    SELECT COUNT(*) AS n FROM (VALUES (1), (2)) AS t(a)
brackets around a table are not supported
    SELECT COUNT(*) AS n FROM (visits JOIN regions USING (city))
    SELECT COUNT(*) AS n FROM (visits)
a query inside an expression sees other rows than its own
    SELECT COUNT(*) AS n FROM visits WHERE city = (SELECT MAX(city) FROM regions)
    SELECT COUNT(*) AS n FROM visits HAVING COUNT(*) > (SELECT 3)
IN with a query sees other rows than its own
    SELECT COUNT(*) AS n FROM visits WHERE city IN (SELECT city FROM regions)
EXISTS sees other rows than its own
    SELECT COUNT(*) AS n FROM visits v WHERE EXISTS (SELECT 1 FROM regions r WHERE r.city = v.city)
ANY sees other rows than its own
    SELECT COUNT(*) AS n FROM visits WHERE city = ANY (SELECT city FROM regions)
WITH RECURSIVE is not supported
    WITH RECURSIVE a AS (SELECT 1 AS x FROM visits) SELECT COUNT(*) AS n FROM a
MATERIALIZED is a hint to an engine
    WITH a AS MATERIALIZED (SELECT * FROM visits) SELECT COUNT(*) AS n FROM a
    WITH a AS NOT MATERIALIZED (SELECT * FROM visits) SELECT COUNT(*) AS n FROM a
a list of columns behind an alias is not supported
    WITH a(x) AS (SELECT city FROM visits) SELECT COUNT(*) AS n FROM a
    SELECT COUNT(*) AS n FROM visits AS v(a, b)
each query of WITH has a name of its own
    WITH a AS (SELECT city FROM visits), A AS (SELECT day FROM visits) SELECT COUNT(*) AS n FROM a
there is no table
    WITH a AS (SELECT * FROM secrets) SELECT COUNT(*) AS n FROM visits
    SELECT COUNT(*) AS n FROM ONLY visits
    SELECT COUNT(*) AS n FROM '/etc/passwd'
    SELECT COUNT(*) AS n FROM "/etc/passwd"
    SELECT COUNT(*) AS n FROM sqlite_master
a join compares columns with =. Write ON a.x = b.y
    SELECT COUNT(*) AS n FROM visits, regions
    SELECT COUNT(*) AS n FROM visits JOIN regions
    SELECT COUNT(*) AS n FROM visits JOIN regions ON TRUE
    SELECT COUNT(*) AS n FROM visits v JOIN regions r ON v.city > r.city
    SELECT COUNT(*) AS n FROM visits v JOIN regions r ON v.city = r.city OR TRUE
a join is JOIN or LEFT JOIN
    SELECT COUNT(*) AS n FROM visits CROSS JOIN regions
    SELECT COUNT(*) AS n FROM visits FULL JOIN regions USING (city)
    SELECT COUNT(*) AS n FROM visits RIGHT JOIN regions USING (city)
    SELECT COUNT(*) AS n FROM visits LEFT SEMI JOIN regions USING (city)
    SELECT COUNT(*) AS n FROM visits CROSS JOIN UNNEST(note) AS x
NATURAL
    SELECT COUNT(*) AS n FROM visits NATURAL JOIN regions
    SELECT COUNT(*) AS n FROM visits ASOF JOIN regions USING (city)
a join compares stored columns
    SELECT COUNT(*) AS n FROM visits v JOIN regions r ON LOWER(v.city) = r.city
    SELECT COUNT(*) AS n FROM visits v JOIN regions r ON v.city = 'Oslo'
a join compares a column of one table with one of the other
    SELECT COUNT(*) AS n FROM visits v JOIN regions r ON v.city = v.note
'visits' is joined with itself
    SELECT COUNT(*) AS n FROM visits a JOIN visits b USING (person)
two tables are called 'a'
    SELECT COUNT(*) AS n FROM visits a JOIN regions a USING (city)
USING names columns that both sides have
    SELECT COUNT(*) AS n FROM visits JOIN regions USING (nothing)
a subquery behind LEFT JOIN may only choose and rename columns
    SELECT COUNT(*) AS n FROM visits v LEFT JOIN (SELECT city AS c, UPPER(region) AS r FROM regions) ON c = v.city
    SELECT COUNT(*) AS n FROM visits v LEFT JOIN (SELECT * FROM regions WHERE region = 'x') r ON r.city = v.city
several tables have a column 'city'
    SELECT COUNT(city) AS n FROM visits v JOIN regions r ON v.city = r.city
LATERAL runs a query for every row
    SELECT COUNT(*) AS n FROM visits, LATERAL (SELECT 1) AS x
    SELECT COUNT(*) AS n FROM visits LATERAL VIEW EXPLODE(note) t AS x
samples such as TABLESAMPLE are drawn by the session
    SELECT COUNT(*) AS n FROM visits TABLESAMPLE BERNOULLI (10)
    SELECT COUNT(*) AS n FROM visits USING SAMPLE 10
PIVOT makes columns of values
    SELECT COUNT(*) AS n FROM visits PIVOT (COUNT(*) FOR city IN ('a'))
locks such as FOR UPDATE are not supported
    SELECT COUNT(*) AS n FROM visits FOR UPDATE
the setting 'version' of 'Table' is not supported
    SELECT COUNT(*) AS n FROM visits FOR SYSTEM_TIME AS OF '2020-01-01'
SELECT INTO writes a table
    SELECT COUNT(*) AS n INTO x FROM visits
FROM takes tables of this session
    SELECT COUNT(*) AS n FROM read_csv('/etc/passwd')
    SELECT COUNT(*) AS n FROM duckdb_secrets()
    SELECT COUNT(*) AS n FROM generate_series(1, 10)
tables and columns are named without a schema
    SELECT COUNT(*) AS n FROM information_schema.tables
    SELECT COUNT(*) AS n FROM main.visits
    SELECT COUNT(*) AS n FROM pg_catalog.pg_user
a query reads a table
    SELECT COUNT(*) AS n
    SELECT 1
    SELECT
a query selects at least one aggregate
    SELECT FROM visits
a column of the answer has one name
    SELECT COUNT(*) AS (a) FROM visits
a name has at least one character
    SELECT COUNT(*) AS "" FROM visits
'/*+ INDEX(x) */' is no part of a query
    SELECT /*+ INDEX(x) */ COUNT(*) AS n FROM visits OPTION (RECOMPILE)
'|>' is no part of a query
    SELECT COUNT(*) AS n FROM visits |> WHERE flag
a query is one statement
    SELECT COUNT(*) AS n FROM visits; DROP TABLE visits
    SELECT COUNT(*) AS n FROM visits; SELECT * FROM visits
a query starts with SELECT or WITH
    FROM visits SELECT COUNT(*) AS n
    FROM visits
    TABLE visits
    VALUES (1)
    (SELECT COUNT(*) AS n FROM visits)
    DROP TABLE visits
    CREATE TABLE x AS SELECT * FROM visits
    CREATE VIEW x AS SELECT * FROM visits
    INSERT INTO visits SELECT * FROM visits
    UPDATE visits SET city = 'x'
    DELETE FROM visits
    MERGE INTO visits USING regions ON TRUE WHEN MATCHED THEN DELETE
    ALTER TABLE visits ADD COLUMN x INT
    TRUNCATE TABLE visits
    GRANT ALL ON visits TO public
    COPY visits TO '/tmp/x.csv'
    ATTACH '/tmp/x.db' AS y
    PRAGMA database_list
    SET memory_limit = '1GB'
    INSTALL httpfs
    LOAD httpfs
    CALL pragma_version()
    EXPLAIN SELECT COUNT(*) FROM visits
    DESCRIBE visits
    SHOW TABLES
    SUMMARIZE visits
    EXPORT DATABASE 'x'
    VACUUM
    BEGIN
    USE x
    EXECUTE x
    PREPARE x AS SELECT 1
each bracket that is opened must be closed
    SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1 COUNT(*) AS n FROM visits
    SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(
a string
    SELECT COUNT(*) AS n FROM visits /* not closed
max_groups_contributed is not an option of a query
    SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed=1) COUNT(*) AS n FROM visits
privacy_unit_column is not an option of a query
    SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(privacy_unit_column=person) COUNT(*) AS n FROM visits
the option epsilon is given twice
    SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, epsilon=2) COUNT(*) AS n FROM visits
the option epsilon is a number
    SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=-1) COUNT(*) AS n FROM visits
    SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon='1') COUNT(*) AS n FROM visits
epsilon must be above 0, got 0
    SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0) COUNT(*) AS n FROM visits
delta must lie strictly between 0 and 1 or be 0, got 1
    SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(delta=1) COUNT(*) AS n FROM visits
options are separated by commas
    SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1 delta=0) COUNT(*) AS n FROM visits
the options are epsilon, delta and areas
    SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(rho=1) COUNT(*) AS n FROM visits
SELECT WITH is followed by DIFFERENTIAL_PRIVACY
    SELECT WITH ANONYMIZATION OPTIONS(epsilon=1) COUNT(*) AS n FROM visits
WITH DIFFERENTIAL_PRIVACY belongs to the outermost SELECT
    SELECT COUNT(*) AS n FROM (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=9) * FROM visits)
an answer is a table
    SELECT AS STRUCT COUNT(*) AS n FROM visits
"""


def cases():
    reason = ""
    for line in REFUSED.strip("\n").splitlines():
        if line.startswith("    "):
            yield pytest.param(reason, line.strip(), id=line.strip())
        else:
            reason = line


@pytest.mark.parametrize(("reason", "text"), list(cases()))
def test_it_is_refused_with_its_reason(reason, text, caplog):
    with caplog.at_level(logging.DEBUG), pytest.raises(InvalidParameter) as caught:
        parse(text, TABLES)
    assert reason in str(caught.value)
    assert str(caught.value).endswith((".", "..."))
    assert caught.value.__cause__ is None
    assert not caplog.records


def test_every_reason_says_what_works_instead():
    for reason in (*REASONS.values(), *SETTINGS.values()):
        assert reason.count(". ") + reason.count(": ") >= 1, reason
