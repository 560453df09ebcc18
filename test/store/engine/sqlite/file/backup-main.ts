// A process that backs up a database over and over, to be killed in the middle of it.
import Connection from 'better-sqlite3';
import { backUp } from '../../../../../src/store/engine/sqlite/file/backup.ts';

const [, , file = '', target = ''] = process.argv;
const connection = new Connection(file);
for (;;) backUp(connection, target);
