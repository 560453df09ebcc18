// Vacuums a database file, for a tracer that kills it meanwhile.
import { vacuumFile } from '../../../src/store/engine/sqlite/file/vacuum.ts';

vacuumFile(process.argv[2]!);
