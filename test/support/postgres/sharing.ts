// How a test's process shares a database with others.
import { randomUUID } from 'node:crypto';
import type { Sharing } from '../../../src/store/engine/database.ts';

export const aSharing = (): Sharing => ({ process: randomUUID(), follow: () => undefined });
