// The official client of the Model Context Protocol, connected to a daemon by one of its faces.
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { DaemonProcess } from '../daemon/daemon-process.ts';
import { BINARY } from '../daemon/initialized.ts';

/** `legacy`: with the handshake of the protocol before 2026-07-28. */
export const FACES = ['http', 'http legacy', 'stdio', 'stdio legacy'] as const;
export type Face = (typeof FACES)[number];

/** What a tool gives, as tests look at it. */
export interface Told {
  readonly isError: boolean;
  /** The structured content. */
  readonly output: Record<string, unknown>;
  readonly content: readonly {
    readonly type: string;
    readonly text?: string;
    readonly uri?: string;
    readonly data?: string;
  }[];
}

interface Asking {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { readonly progress: number; readonly message?: string | undefined }) => void;
}

export interface ErrandClient {
  readonly client: Client;
  readonly transport: Transport;
  call(name: string, args: Record<string, unknown>, asking?: Asking): Promise<Told>;
  close(): Promise<void>;
}

/** `fetch`: that of clients over HTTP. */
type Served = Pick<DaemonProcess, 'url' | 'apiKey'> & { readonly fetch?: typeof fetch };

const openTransport = (face: Face, { url, apiKey, fetch: send = fetch }: Served): Transport =>
  face.startsWith('http')
    ? new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
        requestInit: { headers: { 'x-api-key': apiKey } },
        fetch: send,
      })
    : new StdioClientTransport({
        command: BINARY,
        args: ['--url', url, 'mcp'],
        env: { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', ERRAND_API_KEY: apiKey },
        stderr: 'pipe',
      });

/** Connects. Rejects as the client does. */
export async function connectErrand(face: Face, daemon: Served): Promise<ErrandClient> {
  const mode = face.endsWith('legacy') ? 'legacy' : ({ pin: '2026-07-28' } as const);
  const client = new Client({ name: 'tests', version: '1' }, { versionNegotiation: { mode } });
  const transport = openTransport(face, daemon);
  await client.connect(transport);
  return {
    client,
    transport,
    call: async (name, args, asking) => {
      const result = await client.callTool({ name, arguments: args }, { timeout: 120_000, ...asking });
      const { isError = false, structuredContent = {}, content } = result;
      return { isError, output: structuredContent as Told['output'], content };
    },
    close: () => client.close(),
  };
}
