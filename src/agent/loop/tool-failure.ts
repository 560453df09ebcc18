// The message of a failed tool for the model: what went wrong, without any path of the host.
import { codeOf, messageOf } from '../../domain/errors.ts';

/** `CODE: words, syscall 'path' -> 'path'`, as Node formats the error of a system call. */
const SYSTEM_FAULT = /^([A-Z][A-Z0-9_]+: [^,']+),/;

/**
 * The message of anything that a tool threw. For a system call, its code and words; of paths, only those of the workspace, as
 * `/workspace`.
 */
export function wordsOfFailure(error: unknown, workspace: string): string {
  const message = messageOf(error);
  const isSystemFault = error instanceof Error && 'syscall' in error;
  if (!isSystemFault) return message.replaceAll(workspace, '/workspace');
  return SYSTEM_FAULT.exec(message)?.[1] ?? codeOf(error) ?? 'a system call failed';
}
