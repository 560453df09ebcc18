// Files of tasks: what the tools on files take and give.
import { ARTIFACT_STATUSES, EXPORT_STATUSES, FILE_CHANGES } from '../../domain/sessions/artifact.ts';
import { array } from '../shapes/composites.ts';
import { record, request } from '../shapes/record.ts';
import { integer, oneOf, string, text, uuid } from '../shapes/scalars.ts';
import { nullable, orElse } from '../shapes/shape.ts';
import { described } from './described.ts';

/** Files of one listing. */
export const LISTED_FILES = 200;
const MAX_PATH_CHARACTERS = 4_096;

const path = text({ max: MAX_PATH_CHARACTERS });

export const listInput = request(
  {
    sessionId: described('List all files of this session. Give this or run_id.', orElse(uuid, null)),
    runId: described('List what this task added or changed.', orElse(uuid, null)),
    after: described('For the next page: `next_after` of the one before.', orElse(path, '')),
  },
  { closed: true },
);

const STATUSES = [...new Set([...EXPORT_STATUSES, ...ARTIFACT_STATUSES])];

/** Addresses of downloads are good for a quarter of an hour. */
export const fileList = record({
  status: described('pending: files of the last task are still being collected, so look again soon.', oneOf(STATUSES)),
  files: array(
    record({
      path: string,
      size: integer({ from: 0 }),
      mimeType: nullable(string),
      change: nullable(oneOf(FILE_CHANGES)),
      uri: string,
      downloadUrl: string,
    }),
  ),
  nextAfter: described('null on the last page.', nullable(string)),
});

export const readInput = request(
  {
    sessionId: described('The session_id of the task.', uuid),
    path: described('The path of the file, such as /report.md.', path),
    offset: described('The byte to begin at: `next_offset` of the part before.', orElse(integer({ from: 0 }), 0)),
  },
  { closed: true },
);

export const filePart = record({
  path: string,
  size: integer({ from: 0 }),
  mimeType: nullable(string),
  text: described('null where the file is no text in UTF-8 or UTF-16: download it.', nullable(string)),
  charset: described('What the text was read as.', nullable(string)),
  nextOffset: described('null at the end of the file.', nullable(integer({ from: 0 }))),
  uri: string,
  downloadUrl: string,
});
