// The sandbox that the settings describe.
import type { SandboxSettings } from '../agent/sandbox/sandbox.ts';
import { KB, MB } from '../domain/byte-units.ts';
import type { Config } from './config.ts';

/** Where bubblewrap is searched for. */
const PROGRAM_PATH = '/usr/local/bin:/usr/bin:/bin';

/** What a probe for the sandbox needs. */
export function sandboxSettings({ settings, locations }: Pick<Config, 'settings' | 'locations'>): SandboxSettings {
  const { shell } = settings;
  return {
    path: PROGRAM_PATH,
    privateFolders: [locations.dataDir, locations.configDir],
    timeoutMs: shell.timeoutSeconds * 1_000,
    maxOutputBytes: shell.maxOutputKb * KB,
    memoryBytes: shell.memoryMb * MB,
    maxProcesses: shell.maxProcesses,
  };
}
