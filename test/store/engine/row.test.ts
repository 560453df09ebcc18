// Rows in the names of the domain, whatever their columns hold.
import Connection from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { flag, json, plain, rowKind, type RowKind } from '../../../src/store/engine/row.ts';
import { readOn } from '../../../src/store/engine/sqlite/execute.ts';

interface Cat {
  readonly id: number;
  readonly fullName: string;
  readonly isTame: boolean;
  readonly toys: readonly string[] | null;
  readonly size: { readonly bodyCm: number; readonly tailCm: number };
}

const SIZE = rowKind<Cat['size']>({ bodyCm: plain, tailCm: plain });
const CAT = rowKind<Cat>({ id: plain, fullName: plain, isTame: flag, toys: json, size: SIZE });

function openCats(): Connection.Database {
  const connection = new Connection(':memory:');
  onTestFinished(() => void connection.close());
  connection.exec(`CREATE TABLE cats (id INTEGER, full_name TEXT, is_tame INTEGER, toys TEXT, body_cm INTEGER, tail_cm INTEGER, chip TEXT);
    INSERT INTO cats VALUES (1, 'Mog', 1, '["mouse"]', 46, 30, 'secret'), (2, 'Tom', 0, NULL, 50, 31, 'secret')`);
  return connection;
}

const MOG = { id: 1, fullName: 'Mog', isTame: true, toys: ['mouse'], size: { bodyCm: 46, tailCm: 30 } };
const TOM = { id: 2, fullName: 'Tom', isTame: false, toys: null, size: { bodyCm: 50, tailCm: 31 } };

test('rows of a kind have its fields, and no other columns', () => {
  const cats = openCats();
  expect(readOn(cats, (tx) => tx.rows(CAT).all('SELECT * FROM cats ORDER BY id'))).toEqual([MOG, TOM]);
  expect(readOn(cats, (tx) => tx.rows(CAT).get('SELECT * FROM cats WHERE id = ?', 2))).toEqual(TOM);
  expect(readOn(cats, (tx) => tx.rows(CAT).get('SELECT * FROM cats WHERE id = ?', 3))).toBeUndefined();
});

test('rows without a kind have all columns, in camel case', () => {
  const found = readOn(openCats(), (tx) => tx.all('SELECT full_name, count(*) AS so_many FROM cats'));
  expect(found).toEqual([{ fullName: 'Mog', soMany: 2 }]);
});

test('a kind names its columns, those of an object within a row with its prefix', () => {
  const prefixed = rowKind<{ readonly cat: Cat }>({ cat: rowKind<Cat>(CAT.fields, 'c_') });
  expect(CAT.of('c')).toBe('c.id, c.full_name, c.is_tame, c.toys, c.body_cm, c.tail_cm');
  expect(prefixed.of('c')).toContain('c.full_name AS c_full_name');
  const sql = `SELECT ${prefixed.of('c')} FROM cats c ORDER BY id`;
  expect(readOn(openCats(), (tx) => tx.rows(prefixed).all(sql))).toEqual([{ cat: MOG }, { cat: TOM }]);
});

test('a statement that lacks a column of its kind is refused', () => {
  const read = (kind: RowKind<Cat>) => readOn(openCats(), (tx) => tx.rows(kind).all('SELECT id FROM cats'));
  expect(() => read(CAT)).toThrow('The statement has no column full_name.');
});

test('the rows of a statement have one hidden class', () => {
  const [first, second] = readOn(openCats(), (tx) => tx.rows(CAT).all('SELECT * FROM cats ORDER BY id'));
  expect(Object.keys(first!)).toEqual(Object.keys(second!));
  expect(Object.keys(first!)).toEqual(['id', 'fullName', 'isTame', 'toys', 'size']);
});
