// The fictional installation of the pictures: who works in it, on what, and how far each has got.
import { type DaemonProcess, startDaemonProcess } from '../../test/support/daemon/daemon-process.ts';
import type { Reply } from '../../test/support/model/model-reply.ts';
import { startModelServer } from '../../test/support/model/model-server.ts';

interface Fixture {
  readonly daemon: DaemonProcess;
  /** Starts the runs, and waits until each has the state that its picture needs. */
  work(): Promise<void>;
  close(): Promise<void>;
}

interface Job {
  readonly by: string;
  readonly prompt: string;
  /** What the model replies, one per step; it holds back the last one when `holds`. */
  readonly steps: readonly Reply[];
  readonly ends?: 'completed' | 'failed' | 'stopped';
}

const TEAMS = { Research: 5, Sales: 2, Support: null };
const PEOPLE = {
  ann: ['Ann Keller', 'Research'],
  bela: ['Béla Szabó', 'Research'],
  chidi: ['Chidi Obi', 'Sales'],
  dana: ['Dana Levi', 'Sales'],
  emi: ['Emi Sato', 'Support'],
} as const;

/** Tokens, and a while of thinking before. */
const spends = (input: number, output: number, firstMs = 700): Reply => ({ usage: { input, output }, firstMs });
const calls = (name: string, input: object, usage: Reply): Reply => ({
  ...usage,
  tools: [{ name, input }],
});
const writes = (path: string, content: string, usage: Reply) => calls('write_file', { path, content }, usage);
const says = (text: string, usage: Reply): Reply => ({ ...usage, text: text.split(/(?<= )/), deltaMs: 60 });
/** So slowly that it still writes when its picture is taken. */
const goesOn = (text: string, usage: Reply): Reply => ({ ...usage, text: text.split(/(?<= )/), deltaMs: 250 });
const thinks = (): Reply => ({ hang: 'after-headers' });
const LONG = 'sleep 3600\n';

const LETTERS = `# Letters from the harbour office

1. The surge of the 9th reached the quay at 11:20.
2. The gate was closed at noon.
3. Nobody was told.

The keeper adds that the horn has been silent since March.
`;
const SUMMARY = `## Summary for the council

The letters agree on **three points**, and differ on one.

- The surge of the 9th reached the quay at \`11:20\`, forty minutes before the tables had it.
- The gate was closed twenty minutes later. The log of the keeper and that of the pump house have the same time.
- The ferry was told; the market was not, since its number in the list is one of last year.

They differ on the horn. The keeper writes that it has been silent since March, while the office has a bill for its repair in April. We suggest that somebody sounds it.

### What to do

1. Correct the list of numbers, and ring each of them once a quarter.
2. Read the gauge at the quay every five minutes while a warning is out.
3. Move the stores of the market above the line of 1953.
`.repeat(3);

const JOBS: readonly Job[] = [
  {
    by: 'emi',
    prompt: 'The welcome letter',
    ends: 'completed',
    steps: [
      writes('welcome.ja.md', '# ようこそ\n', spends(8_400, 2_100)),
      says('The letter is in welcome.ja.md.', spends(9_100, 160)),
    ],
  },
  {
    by: 'dana',
    prompt: 'Summary of the calls',
    ends: 'completed',
    steps: [
      writes('calls.md', '# Calls\n', spends(31_000, 3_900, 1500)),
      says('Eleven calls, three of them urgent.', spends(35_200, 480)),
    ],
  },
  {
    by: 'ann',
    prompt: 'Compare tide tables',
    ends: 'completed',
    steps: [
      writes('tides.csv', 'day,metres\n1,3.2\n', spends(52_000, 5_200, 2000)),
      writes('compare.md', '# Tides\n', spends(58_300, 2_700, 1500)),
      says('Spring tides came four minutes later on average.', spends(61_900, 510)),
    ],
  },
  {
    by: 'chidi',
    prompt: 'Offer for the harbour',
    ends: 'failed',
    steps: [
      writes('offer.md', '# Offer\n', spends(12_700, 1_900)),
      { status: 400, body: { error: { message: 'This model is retired.' } } },
    ],
  },
  { by: 'emi', prompt: 'Mail of the weekend', ends: 'stopped', steps: [thinks()] },
  {
    by: 'chidi',
    prompt: "Competitors' prices",
    steps: [
      writes('prices.csv', 'name,price\n', spends(22_400, 1_300)),
      calls('ask_user', { question: 'Which currency do you want?', options: ['EUR', 'USD'] }, spends(24_000, 260)),
    ],
  },
  {
    by: 'bela',
    prompt: 'Plot the quarter 📈',
    steps: [
      writes('plot.sh', LONG, spends(18_200, 2_800)),
      calls('shell', { command: 'sh plot.sh' }, spends(21_500, 240)),
    ],
  },
  {
    by: 'ann',
    prompt: 'Report on the tides',
    steps: [
      {
        ...writes(
          'outline.md',
          '# Tides in March\n\n1. Springs and neaps\n2. The surge of the 9th\n',
          spends(41_000, 3_300),
        ),
        text: 'I begin with an outline, then compute the heights.',
      },
      writes('tides.sh', LONG, spends(43_100, 620)),
      calls('shell', { command: 'sh tides.sh' }, spends(44_800, 310)),
    ],
  },
  {
    by: 'emi',
    prompt: 'Letters from the harbour office, with a summary for the council',
    steps: [
      writes('letters.md', LETTERS, spends(19_400, 1_200)),
      calls(
        'edit_file',
        {
          path: 'letters.md',
          old_text: '2. The gate was closed at noon.\n3. Nobody was told.\n',
          new_text: '2. The gate was closed at 11:40.\n3. The ferry was told at 11:52.\n4. The market was not.\n',
        },
        spends(20_900, 240),
      ),
      goesOn(SUMMARY, spends(22_100, 0)),
    ],
  },
  {
    by: 'dana',
    prompt: 'Open invoices',
    steps: [writes('invoices.csv', 'number,days\n', spends(15_800, 1_150)), thinks()],
  },
  {
    by: 'ann',
    prompt: 'Sources of the report',
    steps: [writes('sources.md', '# Sources\n', spends(27_300, 900)), thinks()],
  },
  { by: 'ann', prompt: 'Map of the gauges', steps: [thinks()] },
];

const MODELS = (url: string) => `endpoints: { scripted: { kind: openai, base_url: "${url}/v1" } }
models:
  scripted:
    { endpoint: scripted, model: scripted, context_window: 128000, max_output_tokens: 4096,
      price: { input_per_million_usd: 3, output_per_million_usd: 15 } }
scenarios: { general: { model: scripted } }
default_scenario: general
`;

/** Starts the daemon with its teams and people. */
export async function startFixture(): Promise<Fixture> {
  const model = await startModelServer({ record: false });
  model.script(({ userText, step }) => {
    const steps = JOBS.find(({ prompt }) => userText.includes(prompt))?.steps ?? [];
    return steps[step] ?? { text: 'Done.' };
  });
  const daemon = await startDaemonProcess({ modelsYaml: MODELS(model.url) });
  return {
    daemon,
    work: () => work(daemon),
    close: async () => {
      await daemon.close();
      await model.close();
    },
  };
}

async function work(daemon: DaemonProcess): Promise<void> {
  for (const [name, budget] of Object.entries(TEAMS)) {
    await daemon.admin('POST', '/api/v1/teams', { name, budget_amount_usd: budget });
  }
  const keys = new Map<string, string>();
  for (const [username, [fullName, team]] of Object.entries(PEOPLE)) {
    await daemon.admin('POST', '/api/v1/users', { username, full_name: fullName, team });
    const made = await daemon.admin('POST', '/api/v1/keys', { user: username, scope: 'conversation' });
    keys.set(username, (made as { key: string }).key);
  }
  for (const job of JOBS) {
    const runId = await begin(daemon, keys.get(job.by) ?? '', job.prompt);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    if (job.ends === 'stopped') await daemon.admin('POST', `/api/v1/runs/${runId}/stop`);
    if (job.ends === 'completed' || job.ends === 'failed') await untilEnded(daemon, runId, job.ends);
  }
  await new Promise((resolve) => setTimeout(resolve, 8_000));
}

async function begin(daemon: DaemonProcess, key: string, prompt: string): Promise<string> {
  const response = await fetch(`${daemon.url}/openapi/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'errand',
      background: true,
      idempotency_key: prompt,
      messages: [{ role: 'user', content: prompt }],
    }),
  });
  const runId = response.headers.get('x-run-id');
  if (!response.ok || runId === null) throw new Error(`${prompt}: ${response.status} ${await response.text()}`);
  return runId;
}

async function untilEnded(daemon: DaemonProcess, runId: string, wanted: string): Promise<void> {
  for (let tries = 0; tries < 300; tries += 1) {
    const { status } = (await daemon.admin('GET', `/api/v1/runs/${runId}`)) as { status: string };
    if (status === wanted) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`Run ${runId} never ${wanted}.`);
}
