// What the model is told of a tool that failed: what went wrong, and nothing of where on the host.
import { codeOf, messageOf } from '../../domain/errors.ts';

/** `CODE: words, syscall 'path' -> 'path'`, as Node says what a system call refused. */
const SYSTEM_FAULT = /^([A-Z][A-Z0-9_]+: [^,']+),/;

/** The message of anything that a tool threw. Of a system call its code and words; of paths only the workspace's, as `/workspace`. */
export function wordsOfFailure(error: unknown, workspace: string): string {
  const message = messageOf(error);
  const isSystemFault = error instanceof Error && 'syscall' in error;
  if (!isSystemFault) return message.replaceAll(workspace, '/workspace');
  return SYSTEM_FAULT.exec(message)?.[1] ?? codeOf(error) ?? 'a system call failed';
}
