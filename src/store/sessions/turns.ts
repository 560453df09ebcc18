// The turns of a session as an agent needs them: what the user said, and each run's recorded steps.
import type { Attachment, UserBlock } from '../../domain/sessions/content.ts';
import type { JsonObject, JsonValue } from '../../domain/json.ts';
import { inOwnTurn, LONG_TEXT } from '../../domain/loop/own-turn.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { readSetups, type StoredSetup } from '../runs/run-setups.ts';
import { acrossOrigins } from '../forks/origins.ts';
import { saidTogether, type StoredCall, type StoredStep, type StoredTurn } from './stored-turn.ts';
import { makeReadBefore, type Page, type SizedPage, type TurnBudget } from './earlier-turns.ts';
import { ATTACHMENT } from './sessions.ts';

/** What the model of a turn was asked with, and the schema that its result had to fit; null without one. */
export interface AskedWith {
  readonly outputSchema: JsonObject | null;
  /** From which step on; the first 16. */
  readonly setups: readonly StoredSetup[];
}

const MAX_SETUPS = 16;

interface SizedTurn extends Pick<TurnBudget, 'documentBytes'> {
  readonly sessionSeq: number;
  /** The `seq` of its run. */
  readonly seq: number;
}

/** The verbs that read turns. */
export function makeTurns({ read }: Database) {
  const readHead = read(readTurn, 'committed');
  const readLongHead = read(readLongTurn, 'committed');
  const readSteps = read(readStepRows, 'committed');
  const readPages = read(pageAcross);
  const readPagesWritten = read(pageAcross, 'committed');
  return {
    /** The turn of one run. A run that was never attempted before has no steps to read. For its executor alone. */
    get: async (runSeq: number, attempt: number): Promise<StoredTurn> => {
      const head = (await readHead(runSeq)) ?? (await decoded(await inOwnTurn(async () => readLongHead(runSeq))));
      if (attempt <= 1) return parsedInTurns(head);
      return parsedInTurns({ ...head, ...(await inOwnTurn(async () => readSteps(runSeq))) });
    },

    /** Steps of a run from one to another, whatever its attempt. */
    listSteps: read(function* (tx: Reader, runSeq: number, from: number, to: number): Step<StoredStep[]> {
      const rows = (table: string, order: string) =>
        `SELECT * FROM ${table} WHERE run_seq = ? AND step BETWEEN ? AND ? ORDER BY ${order}`;
      const steps = yield* tx.all<StepRow>(rows('steps', 'step'), runSeq, from, to);
      const calls = yield* tx.all<ToolCallRow>(rows('tool_calls', 'step, position'), runSeq, from, to);
      return steps.map((row) => toStep(row, calls));
    }),

    getAskedWith: read(function* (tx: Reader, runSeq: number): Step<AskedWith> {
      const sql = 'SELECT output_schema AS schema FROM runs WHERE seq = ?';
      const { schema } = (yield* tx.get<{ schema: string | null }>(sql, runSeq))!;
      const outputSchema = schema === null ? null : (JSON.parse(schema) as JsonObject);
      return { outputSchema, setups: yield* readSetups(tx, runSeq, MAX_SETUPS) };
    }),

    /** Bytes of the turn of one run, counted like the budget of the turns before it. */
    bytesOf: read(function* (tx: Reader, { sessionSeq, seq, documentBytes }: SizedTurn): Step<number> {
      return (yield* readSizes(tx, { sessionSeq, before: seq + 1, from: seq, limit: 1, documentBytes }))[0] ?? 0;
    }, 'committed'),

    /**
     * The turns before a run, of a fork with those that it begins with: as many of the newest as the budget allows. Their sizes are checked before they are read, a page at a
     * time; what precedes a run doesn't change any more.
     */
    listBefore: makeReadBefore({ sizes: read(sizesAcross), page: async (place) => allParsed(await readPages(place)) }),

    /** The same for its executor alone. */
    listHistory: makeReadBefore({
      sizes: read(sizesAcross, 'committed'),
      page: async (place) => allParsed(await readPagesWritten(place)),
    }),

    /** The index that the next text block of a run's stream takes. */
    nextBlockIndex: read(function* (tx: Reader, runSeq: number): Step<number> {
      const last = yield* tx.get<{ payload: string }>(
        `SELECT payload FROM events WHERE run_seq = ? AND type <> 'content_block_delta' AND type = 'content_block_start'
         ORDER BY stream_seq DESC LIMIT 1`,
        runSeq,
      );
      return last === undefined ? 0 : (JSON.parse(last.payload) as { index: number }).index + 1;
    }),
  };
}

/** A turn as its rows have it. */
interface TurnRows {
  readonly runSeq: number;
  readonly content: string;
  readonly attachments: readonly Attachment[];
  readonly steps: readonly StepRow[];
  readonly calls: readonly ToolCallRow[];
}

/** The same, with the content as its bytes: reading a long text and decoding it both take time. */
interface LongTurnRows extends Omit<TurnRows, 'content'> {
  readonly content: Buffer;
}

const decoded = async ({ content, ...rows }: LongTurnRows): Promise<TurnRows> => ({
  ...rows,
  content: await inOwnTurn(() => content.toString()),
});

async function parsedInTurns({ runSeq, content, attachments, steps, calls }: TurnRows): Promise<StoredTurn> {
  const user = await parsedOf(content.length, () => JSON.parse(content) as UserBlock[]);
  return { runSeq, user, attachments, steps: await parsedOf(charactersOf(steps, calls), () => toSteps(steps, calls)) };
}

const parsedOf = async <Parsed>(characters: number, parse: () => Parsed): Promise<Parsed> =>
  characters > LONG_TEXT ? inOwnTurn(parse) : parse();

async function allParsed(pages: readonly TurnRows[]): Promise<StoredTurn[]> {
  const turns: StoredTurn[] = [];
  for (const rows of pages) turns.push(await parsedInTurns(rows));
  return turns;
}

function charactersOf(steps: readonly StepRow[], calls: readonly ToolCallRow[]): number {
  const ofSteps = steps.reduce((sum, { message, text }) => sum + message.length + text.length, 0);
  return ofSteps + calls.reduce((sum, { input }) => sum + input.length, 0);
}

/** Without its steps. Undefined when what the user said is long. */
function* readTurn(tx: Reader, runSeq: number): Step<TurnRows | undefined> {
  const row = yield* tx.get<{ id: number; content: string }>(
    "SELECT id, content FROM messages WHERE run_seq = ? AND role = 'user' AND octet_length(content) <= ?",
    runSeq,
    LONG_TEXT,
  );
  if (row === undefined) return undefined;
  const { id, content } = row;
  return { runSeq, content, attachments: yield* readAttachments(tx, content, id), steps: [], calls: [] };
}

/** The same, however long it is. */
function* readLongTurn(tx: Reader, runSeq: number): Step<LongTurnRows> {
  const sql = "SELECT id, CAST(content AS BLOB) AS content FROM messages WHERE run_seq = ? AND role = 'user'";
  const { id, content } = (yield* tx.get<{ id: number; content: Buffer }>(sql, runSeq))!;
  return { runSeq, content, attachments: yield* readAttachments(tx, content, id), steps: [], calls: [] };
}

function* readStepRows(tx: Reader, runSeq: number): Step<Pick<TurnRows, 'steps' | 'calls'>> {
  const steps = yield* tx.all<StepRow>('SELECT * FROM steps WHERE run_seq = ? ORDER BY step', runSeq);
  const sql = 'SELECT * FROM tool_calls WHERE run_seq = ? ORDER BY step, position';
  return { steps, calls: steps.length === 0 ? [] : yield* tx.all<ToolCallRow>(sql, runSeq) };
}

const sizesAcross = (tx: Reader, place: SizedPage): Step<number[]> => acrossOrigins(tx, place, readSizes);
const pageAcross = (tx: Reader, place: Page): Step<TurnRows[]> => acrossOrigins(tx, place, readPage);

/** Stored bytes of the turns of a page, newest first. Their texts are not read. */
function* readSizes(tx: Reader, { sessionSeq, before, from, limit, documentBytes }: SizedPage): Step<number[]> {
  const rows = yield* tx.all<{ bytes: number }>(
    `SELECT octet_length(m.content)
       + (SELECT coalesce(sum(octet_length(s.message) + octet_length(s.text)), 0) FROM steps s WHERE s.run_seq = r.seq)
       + (SELECT coalesce(sum(octet_length(c.input) + coalesce(octet_length(c.output), 0)), 0)
          FROM tool_calls c WHERE c.run_seq = r.seq)
       + (SELECT coalesce(sum(CASE WHEN octet_length(d.text) < ? THEN octet_length(d.text) ELSE ? END), 0) FROM attachments a
          JOIN document_texts d ON d.sha256 = a.sha256 WHERE a.message_id = m.id) AS bytes
     FROM runs r JOIN messages m ON m.run_seq = r.seq AND m.role = 'user'
     WHERE r.session_seq = ? AND r.seq < ? AND r.seq >= ? ORDER BY r.seq DESC LIMIT ?`,
    documentBytes,
    documentBytes,
    sessionSeq,
    before,
    from,
    limit,
  );
  return rows.map(({ bytes }) => bytes);
}

/** A page of turns, newest first, with one query for each kind of row. */
function* readPage(tx: Reader, { sessionSeq, before, from, limit }: Page): Step<TurnRows[]> {
  const messages = yield* tx.all<{ runSeq: number; id: number; content: string }>(
    `SELECT r.seq AS runSeq, m.id, m.content FROM runs r JOIN messages m ON m.run_seq = r.seq AND m.role = 'user'
     WHERE r.session_seq = ? AND r.seq < ? AND r.seq >= ? ORDER BY r.seq DESC LIMIT ?`,
    sessionSeq,
    before,
    from,
    limit,
  );
  const oldest = messages.at(-1)?.runSeq ?? before;
  const steps = Map.groupBy(
    yield* tx.all<StepRow>(
      `SELECT s.* FROM runs r JOIN steps s ON s.run_seq = r.seq
       WHERE r.session_seq = ? AND r.seq < ? AND r.seq >= ? ORDER BY r.seq, s.step`,
      sessionSeq,
      before,
      oldest,
    ),
    (row) => row.runSeq,
  );
  const calls = Map.groupBy(
    yield* tx.all<ToolCallRow>(
      `SELECT c.* FROM runs r JOIN tool_calls c ON c.run_seq = r.seq
       WHERE r.session_seq = ? AND r.seq < ? AND r.seq >= ? ORDER BY r.seq, c.step, c.position`,
      sessionSeq,
      before,
      oldest,
    ),
    (row) => row.runSeq,
  );
  const turns: TurnRows[] = [];
  for (const { runSeq, id, content } of messages) {
    const attachments = yield* readAttachments(tx, content, id);
    turns.push({ runSeq, content, attachments, steps: steps.get(runSeq) ?? [], calls: calls.get(runSeq) ?? [] });
  }
  return turns;
}

/** As the content has it outside of texts, in which quotes are escaped. */
const IN_CONTENT = '"type":"attachment"';

function* readAttachments(tx: Reader, content: string | Buffer, messageId: number): Step<Attachment[]> {
  if (!content.includes(IN_CONTENT)) return [];
  return yield* tx.rows(ATTACHMENT).all('SELECT * FROM attachments WHERE message_id = ? ORDER BY seq', messageId);
}

interface StepRow {
  runSeq: number;
  step: number;
  kind: string;
  message: string;
  text: string;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
}

interface ToolCallRow {
  runSeq: number;
  step: number;
  toolUseId: string;
  name: string;
  input: string;
  state: StoredCall['state'];
  ok: number | null;
  output: string | null;
}

const toSteps = (rows: readonly StepRow[], calls: readonly ToolCallRow[]) =>
  saidTogether(rows.map((row) => toStep(row, calls)));

function toStep(row: StepRow, calls: readonly ToolCallRow[]): StoredStep {
  return {
    step: row.step,
    kind: row.kind,
    message: JSON.parse(row.message) as JsonValue,
    text: row.text,
    usage: {
      inputTokens: row.inputTokens,
      outputTokens: row.outputTokens,
      cacheReadTokens: row.cacheReadTokens,
      cacheWriteTokens: row.cacheWriteTokens,
    },
    calls: calls.filter((call) => call.step === row.step).map(toStoredCall),
  };
}

function toStoredCall(row: ToolCallRow): StoredCall {
  return {
    id: row.toolUseId,
    name: row.name,
    input: JSON.parse(row.input) as JsonObject,
    state: row.state,
    ok: row.ok === 1,
    output: row.output ?? '',
  };
}
