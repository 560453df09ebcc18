// Settings of scheduled backups.
import { isAbsolute } from 'node:path';
import { flag, text } from '../../catalog/reading/schema.ts';
import { count, type Options } from '../option.ts';

export const BACKUP_OPTIONS = {
  'backup.directory': {
    schema: text('an absolute path', (path) => path === '' || isAbsolute(path)),
    fallback: '',
    about:
      'Directory for a backup each day, on another disk if possible. It must be for backups alone. Empty: no backups are ' +
      'scheduled.',
  },
  'backup.at': {
    schema: text('a time of day, such as 03:30', (time) => /^([01]\d|2[0-3]):[0-5]\d$/.test(time)),
    fallback: '03:30',
    about: "Time of day for the backup, by the machine's clock. One that was missed is made at the next start.",
  },
  'backup.keep_days': {
    schema: count(1, 36_500),
    fallback: 14,
    about:
      'Days that backups are kept. Older ones are removed after each scheduled backup; the newest three always stay.',
  },
  'backup.workspaces': {
    schema: flag(),
    fallback: true,
    about: 'Whether backups contain the workspaces of sessions. Without them, agents lose the files that they work on.',
  },
} satisfies Options;
