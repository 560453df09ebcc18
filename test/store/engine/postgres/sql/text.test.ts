// Text as PostgreSQL stores it.
import { expect, test } from 'vitest';
import { fromPostgres, toPostgres } from '../../../../../src/store/engine/postgres/sql/text.ts';

test.each(['', 'plain', '\0', '\0\0', '\uFDD0', '\uFDD00', '\uFDD01\0', 'a\0\uFDD0b'])(
  '%j comes back, without U+0000 in between',
  (text) => {
    const stored = toPostgres(text);
    expect(stored).not.toContain('\0');
    expect(fromPostgres(stored)).toBe(text);
  },
);
