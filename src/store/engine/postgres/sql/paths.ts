// Texts without a limit in PostgreSQL, whose indexes refuse more than 2,704 bytes: they have the start of a path, and a sum of all of it. Of
// a tool use, whose id a model chooses, they have the sum.

/** Characters, of up to four bytes each. */
const START = 600;
const start = (path: string) => `left(${path}, ${START})`;

/** Each with what it is replaced with. The start of a path is in the order of the whole, so an index of starts finds rows in that order. */
type Rule = readonly [RegExp, string];

/** Of the schema. */
export const PATHS_IN_SCHEMA: readonly Rule[] = [
  [
    /CREATE TABLE (\w+) \(([^;]*),\n *PRIMARY KEY \((\w+), path\)\n\);/g,
    `CREATE TABLE $1 ($2\n);\nCREATE UNIQUE INDEX $1_by_path ON $1 ($3, ${start('path')}, md5(path));`,
  ],
  [/ ON attachments \(path\)/g, ` ON attachments (${start('path')})`],
  [
    /CREATE TABLE (\w+) \(([^;]*),\n *(?:PRIMARY KEY|UNIQUE) \((\w+), tool_use_id\)([^;]*)\n\);/g,
    'CREATE TABLE $1 ($2$4\n);\nCREATE UNIQUE INDEX $1_by_tool_use ON $1 ($3, md5(tool_use_id));',
  ],
  [/\(session_seq, tool_use_id, run_seq\)/g, '(session_seq, md5(tool_use_id), run_seq)'],
];

/** Of statements: what is said of a path is said of its start, too, and of a tool use of its sum. */
export const PATHS_IN_STATEMENTS: readonly Rule[] = [
  [/((?:\b\w+\.)?\bpath) = (\$\d+|\w+\.entry_path)/g, `(${start('$1')} = ${start('$2')} AND $1 = $2)`],
  [/\bpath (>=?) (\$\d+)/g, `(${start('path')} >= ${start('$2')} AND path $1 $2)`],
  [/\bpath (<=?) (\$\d+)/g, `(${start('path')} <= ${start('$2')} AND path $1 $2)`],
  // First as they are, then each by its start.
  [/\bpath IN \((\$[$\d, ]+)\)/g, `(${start('path')} IN ($1) AND path IN ($1))`],
  [/(?<=\bleft\(path, \d+\) IN \((?:\$\d+, )*)\$\d+/g, start('$&')],
  [/\bORDER BY path\b/g, `ORDER BY ${start('path')}, path`],
  [/\((\w+), path\) IN \((\s*SELECT) \1, path\b/g, `($1, ${start('path')}, path) IN ($2 $1, ${start('path')}, path`],
  [/\bON CONFLICT \((\w+), path\)/g, `ON CONFLICT ($1, ${start('path')}, md5(path))`],
  [/\btool_use_id = (\$\d+)/g, '(md5(tool_use_id) = md5($1) AND tool_use_id = $1)'],
  [/\bON CONFLICT \((\w+), tool_use_id\)/g, 'ON CONFLICT ($1, md5(tool_use_id))'],
];
