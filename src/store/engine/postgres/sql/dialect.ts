// Statements of verbs in the words of PostgreSQL. What both engines take is written so in the verb; here is what they don't share.

import { LANE } from './lane.ts';
import { PATHS_IN_STATEMENTS } from './paths.ts';

/** Text, quoted names and comments, which stay as they are; a parameter; or a name of ours, which would lose its capitals. */
const TOKEN = /'[^']*'|"[^"]*"|--[^\n]*|\?|\b[a-z]\w*[A-Z]\w*\b/g;
const NAME = /^[a-z]/;

/** `DELETE` and `UPDATE` take no number of rows; the rows that are meant have their places. */
const SOME_ROWS =
  /^(DELETE FROM (\w+)|UPDATE (\w+)\s+SET [\s\S]*?)(\s+WHERE [\s\S]*?)(\s+ORDER BY [^()]*?)?(\s+RETURNING [\s\S]*?)?\s+LIMIT (\$\d+|\d+)\s*$/;
const WITH_SOME_ROWS = /^(WITH [\s\S]*\) )(DELETE FROM [\s\S]* LIMIT (?:\$\d+|\d+)\s*)$/;

/** What the server's clock says, epoch ms. */
export const SERVER_NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::int8';

/** Each with what it is replaced with. */
const RULES: readonly (readonly [RegExp, string])[] = [
  // SQLite is told here in which order to join, or which index to take, and elsewhere not to read an expression as a constant.
  [/\bCROSS JOIN(\s+\w+(?:\s+(?:AS\s+)?(?!ON\b)\w+)?\s+ON\b)/g, 'JOIN$1'],
  [/\s+INDEXED BY \w+|\s+NOT INDEXED\b/g, ''],
  [/\bLIMIT \+/g, 'LIMIT '],
  // Functions of other names.
  [/\bdatabase_now\(\)/g, SERVER_NOW],
  [/\binstr\(/g, 'strpos('],
  [/\bhex\(([\w.]+)\)/g, "upper(encode($1, 'hex'))"],
  [/\bx'(\w\w)'/g, "'\\x$1'::bytea"],
  // Text is no JSON, and JSON of PostgreSQL has no U+0000: a member that is a text without quotes is found in the text.
  [/((?:\w+\.)?\w+) ->> '\$\.(\w+)'/g, `substring($1 from '"$2":"([^"]*)"')`],
  [/json_set\((\w+), '\$\.(\w+)', ''\)/g, `regexp_replace($1, '"$2":"(\\\\.|[^"\\\\])*"', '"$2":""')`],
  // A parameter that stands alone would be text. SQLite takes another plan when it is told the type.
  [/\(SELECT (\$\d+) UNION ALL SELECT no/g, '(SELECT CAST($1 AS BIGINT) UNION ALL SELECT no'],
  // Integers of 64 bits, text as bytes, and bytes as text.
  [/\bAS INTEGER\)/g, 'AS BIGINT)'],
  [/CAST\(([\w.]+) AS BLOB\)/g, "convert_to($1, 'UTF8')"],
  [/CAST\(CAST\((\$\d+) AS BLOB\) AS TEXT\)/g, "convert_from($1, 'UTF8')"],
  // A column of SQLite's that is computed.
  [/\b(\w+\.)?lane\b/g, LANE('$1')],
  ...PATHS_IN_STATEMENTS,
];

/** The statement that does the same. */
export function translate(sql: string): string {
  let parameters = 0;
  const numbered = sql.replace(TOKEN, (token) => {
    if (token === '?') return `$${(parameters += 1)}`;
    return NAME.test(token) ? `"${token}"` : token;
  });
  const [, head = '', body = numbered] = WITH_SOME_ROWS.exec(numbered) ?? [];
  const text = head + body.replace(SOME_ROWS, someRows);
  return withAliases(RULES.reduce((changed, [from, to]) => changed.replace(from, to), text));
}

function someRows(
  ...[, head, deleted, updated, where, order = '', returning = '', limit]: (string | undefined)[]
): string {
  const rows = `SELECT ctid FROM ${deleted ?? updated}${where}${order} LIMIT ${limit}`;
  return `${head} WHERE ctid = ANY (ARRAY(${rows}))${returning}`;
}

const SUBSELECT = /\b(?:FROM|JOIN)\s*\((?=\s*(?:SELECT|WITH)\b)/g;
/** What may stand behind a table without an alias. */
const NO_ALIAS =
  /^\s*($|\)|,|;|(?:WHERE|GROUP|ORDER|LIMIT|JOIN|LEFT|CROSS|ON|UNION|HAVING|EXCEPT|INTERSECT|RETURNING|WINDOW|OFFSET)\b)/;

/** Version 15 wants a name for every sub-select that is a table. */
function withAliases(sql: string): string {
  let text = sql;
  const starts = [...sql.matchAll(SUBSELECT)].map(({ 0: found, index }) => index + found.length);
  // From the last one: what is inserted moves only what is behind it.
  for (const [number, start] of starts.toReversed().entries()) {
    const end = endOfParentheses(text, start);
    if (NO_ALIAS.test(text.slice(end))) text = `${text.slice(0, end)} AS unnamed_${number}${text.slice(end)}`;
  }
  return text;
}

/** Where the parentheses end that were opened just before a place. */
function endOfParentheses(sql: string, start: number): number {
  let depth = 1;
  let at = start;
  for (; depth > 0; at += 1) {
    if (sql[at] === '(') depth += 1;
    else if (sql[at] === ')') depth -= 1;
    else if (sql[at] === "'") at = sql.indexOf("'", at + 1);
  }
  return at;
}
