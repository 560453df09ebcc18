// The browser of this machine: searched for when the settings enable it, and granted to runs while they do.
import type { BrowserProbe } from '../../agent/browser/find-chromium.ts';
import type { BrowserGrant, SandboxGrant } from '../../agent/port/grants.ts';
import { MB } from '../../domain/byte-units.ts';
import type { Settings } from '../../domain/settings.ts';
import type { Log } from '../../log/log.ts';

export interface BrowserParts {
  readonly log: Log;
  settings(): Settings;
  /** Result of the sandbox probe; null without a sandbox. */
  sandbox(): SandboxGrant | null;
  /** Looks for the configured program, or for any, in the sandbox. */
  find(sandbox: SandboxGrant | null, named: string): Promise<BrowserProbe>;
}

export interface BrowserPart {
  /** Looks for the browser, unless it is switched off or the same name was searched before. Never rejects. */
  look(): Promise<void>;
  /** What a run is granted; null when the browser is off or not found. */
  grant(): BrowserGrant | null;
  /** `off`, `ok`, or why no browser is available. */
  state(): 'off' | 'ok' | { readonly why: string };
}

/** A browser has many more processes and threads than a command. */
const MAX_PROCESSES = 512;

export function makeBrowserPart({ log, settings, sandbox, find }: BrowserParts): BrowserPart {
  let looked: { readonly named: string; readonly probe: BrowserProbe } | undefined;
  let looking: Promise<void> = Promise.resolve();

  async function lookOnce(): Promise<void> {
    const { enabled, executable } = settings().browser;
    if (!enabled || looked?.named === executable) return;
    const probe = await find(sandbox(), executable);
    looked = { named: executable, probe };
    if (probe.ok) log.info({ executable: probe.executable, version: probe.version }, 'the browser was found');
    else log.warn({ why: probe.why }, 'the browser is off');
  }

  return {
    look: () => {
      looking = looking.then(lookOnce).catch((error: unknown) => {
        log.error({ err: error }, 'the browser could not be looked for');
      });
      return looking;
    },
    grant: () => {
      const { browser, workspace } = settings();
      const { enabled, timeoutSeconds, memoryMb } = browser;
      const walls = sandbox();
      if (!enabled || walls === null || looked?.probe.ok !== true) return null;
      return {
        executable: looked.probe.executable,
        timeoutMs: timeoutSeconds * 1_000,
        sandbox: {
          ...walls,
          memoryBytes: memoryMb * MB,
          maxProcesses: MAX_PROCESSES,
          // Its folder is among temporary files, which may be on another disk than the one that must keep free space.
          space: { quotaBytes: workspace.quotaMb * MB, keepFreeBytes: 0 },
        },
      };
    },
    state: () => {
      if (!settings().browser.enabled) return 'off';
      if (looked === undefined) return { why: 'the search for it has not finished' };
      return looked.probe.ok ? 'ok' : { why: looked.probe.why };
    },
  };
}
