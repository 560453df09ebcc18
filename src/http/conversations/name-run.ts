// The headers that name the run of a reply, and its session (§2.4).
import type { ServerResponse } from 'node:http';
import type { Run } from '../../domain/sessions/run.ts';
import { setHeaders } from '../replies/head.ts';

export function nameRun(res: ServerResponse, { id, sessionId }: Run): void {
  setHeaders(res, { 'X-Session-Id': sessionId, 'X-Run-Id': id });
}
