// Statements of verbs in the words of PostgreSQL.

/** Text and comments, which stay as they are, or a parameter. */
const TOKEN = /'[^']*'|--[^\n]*|\?/g;
const DELETE_SOME = /DELETE FROM (\w+)( WHERE [\s\S]*?)?( ORDER BY [^()]*?)? LIMIT (\$\d+|\d+)\s*$/;

/** Each with what it is replaced with. */
const RULES: readonly (readonly [RegExp, string])[] = [
  // Hints to SQLite's planner.
  [/CROSS JOIN (\w+(?: (?:AS )?(?!ON\b)\w+)?) ON/g, 'JOIN $1 ON'],
  [/ INDEXED BY \w+| NOT INDEXED/g, ''],
  [/LIMIT \+/g, 'LIMIT '],
  [/\binstr\(/g, 'strpos('],
  [/(\w+\.)?payload ->> '\$\.(\w+)'/g, "($1payload::json ->> '$2')"],
  [/CAST\((.*?) AS INTEGER\)/g, 'CAST($1 AS BIGINT)'],
  [/\bhex\(([\w.]+)\)/g, "upper(encode($1, 'hex'))"],
  [/x'(\w\w)'/g, "'\\x$1'::bytea"],
  // Rows can't be deleted up to a number of them.
  [DELETE_SOME, 'DELETE FROM $1 WHERE ctid = ANY (ARRAY(SELECT ctid FROM $1$2$3 LIMIT $4))'],
];

/** The statement that does the same. */
export function translate(sql: string): string {
  let parameters = 0;
  const numbered = sql.replace(TOKEN, (token) => (token === '?' ? `$${(parameters += 1)}` : token));
  return RULES.reduce((text, [from, to]) => text.replace(from, to), numbered);
}
