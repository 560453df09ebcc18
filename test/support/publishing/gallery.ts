// A real daemon in whose session an agent has made files, some of them published.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rowsOf } from '../daemon/daemon-look.ts';
import { type DaemonProcess, startDaemonProcess } from '../daemon/daemon-process.ts';
import { takeTurn } from '../daemon/turn.ts';
import { startModelServer } from '../model/model-server.ts';

interface NewPage {
  readonly name: string;
  /** In the workspace; begins with `/`. */
  readonly entry_path: string;
  readonly description?: string;
  readonly category?: string;
  readonly tags?: readonly string[];
  readonly public_to_board_enabled?: boolean;
  readonly distraction_free_mode_enabled?: boolean;
}

export interface Gallery {
  readonly daemon: DaemonProcess;
  /** Has an agent put files into the workspace of the one session, by their paths in it. */
  make(files: Readonly<Record<string, string | Buffer>>): Promise<void>;
  /** Publishes a page of the session. */
  publish(page: NewPage): Promise<{ readonly key: string; readonly code: string }>;
  /** Publishes the next version of a page. */
  release(key: string): Promise<string>;
  close(): Promise<void>;
}

/** Starts it. */
export async function startGallery(): Promise<Gallery> {
  const model = await startModelServer({ record: false });
  const daemon = await startDaemonProcess({ modelServerUrl: model.url });
  let files: Readonly<Record<string, string | Buffer>> = {};
  let sessionId: string | null = null;
  // A workspace is read after a run that used it. Only text passes through the tool.
  model.script(({ step }) => {
    if (step === 0) return { tools: [{ name: 'write_file', input: { path: '/notes.txt', content: 'Begun.' } }] };
    const [{ id }] = rowsOf<{ id: string }>(daemon, 'SELECT id FROM sessions') as [{ id: string }];
    for (const [path, content] of Object.entries(files)) {
      const file = join(daemon.dataDir, 'workspaces', id, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
    }
    return { text: 'Done.' };
  });
  return {
    daemon,
    make: async (made) => {
      files = made;
      const turn = await takeTurn(daemon, { content: 'Make them.', sessionId });
      if (turn.status !== 200) throw new Error(JSON.stringify(turn.error));
      sessionId = turn.sessionId;
    },
    publish: async (page) => {
      const body = { session_id: sessionId, ...page };
      const made = (await daemon.admin('POST', '/api/v1/publishes', body)) as {
        publish_key: string;
        latest_share_code: string;
      };
      return { key: made.publish_key, code: made.latest_share_code };
    },
    release: async (key) => {
      const made = (await daemon.admin('POST', `/api/v1/publishes/${key}/versions`, {})) as { share_code: string };
      return made.share_code;
    },
    close: async () => {
      await daemon.close();
      await model.close();
    },
  };
}
