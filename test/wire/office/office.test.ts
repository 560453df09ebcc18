// The shapes of Office Mode: each reads what §2.14 and the decisions describe, and refuses a field of another kind.
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/domain/json.ts';
import type { AnyShape } from '../../../src/wire/shapes/shape.ts';
import {
  contextUsage,
  officeArchive,
  officeDetail,
  officeMessages,
  officePicture,
  officeRuns,
  officeSession,
  officeSummary,
  runRounds,
} from '../../../src/wire/office/session.ts';
import { snapshot, todayRuns, UNASSIGNED_TEAM_ID } from '../../../src/wire/office/snapshot.ts';

const ID = '0198b5b0-0000-7000-8000-000000000001';
const AT = '2026-11-22T10:00:00.000Z';
const WHO = { user_id: ID, username: 'ann', full_name: 'Ann' };
const NO_TEAM = { team_id: '__unassigned__', team_name: 'Unassigned' };
const ACCESS = { can_view_conversation: true, conversation_access_mode: 'admin_readonly' };
const ENTITY = {
  id: ID,
  kind: 'session-run',
  title: 'Plot',
  subtitle: 'Ann · Unassigned',
  status: 'running',
  meta: '18.2k tokens · $0.07 · 3 tools',
  progress: 40,
  detail: 'shell: python plot.py',
  model_wait: { model: 'big', agent: 'scout', since: AT, waited_seconds: 7, message: 'It is down.' },
  node: 'north',
  ...NO_TEAM,
  run_id: ID,
  session_id: ID,
  session_title: 'Plot',
  ...WHO,
  started_at: AT,
  finished_at: null,
  updated_at: AT,
  elapsed_seconds: 12,
  last_error: null,
  total_cost_usd: 0.07,
  total_tokens: 18_200,
  message_count: 2,
  artifact_count: 0,
  ...ACCESS,
};
const ITEM = {
  ...ENTITY,
  id: `${ID}:${ID}`,
  is_deleted: false,
  source_type: 'normal_session',
  scheduled_task_id: null,
  scheduled_task_step_id: null,
};
const PAGE = { total: 1, limit: 10, offset: 0 };
const TODAY = { generated_at: AT, total: 1, item_total: 1, limit: 10, page: 1, has_more: false, next_page: null };
const COUNTS = { total: 1, running: 1, pending: 0, failed: 0, completed: 0, idle: 0, visible_conversations: 1 };
const COST = { total_cost_usd: 0.07, total_tokens: 18_200 };
const MESSAGE = { id: 1, role: 'user', text_preview: 'Plot it', created_at: AT };
const RUN = { run_id: ID, status: 'running', progress: 40, started_at: AT };

const EXAMPLES: readonly [AnyShape, JsonObject][] = [
  [
    snapshot,
    {
      generated_at: AT,
      overview: { ...COUNTS, ...COST },
      permissions: { allow_other_conversations: true, conversation_access_label: 'Administrator, read only' },
      teams: [
        {
          id: UNASSIGNED_TEAM_ID,
          name: 'Unassigned',
          budget_amount_usd: null,
          today_active: 1,
          scheduled_task_count: 0,
          today_total_tokens: 18_200,
          today_cost_usd: 0.07,
          created_at: AT,
          updated_at: AT,
        },
      ],
      entities: [ENTITY],
      recent_sessions: [
        {
          id: ID,
          session_id: ID,
          run_id: ID,
          ...WHO,
          ...NO_TEAM,
          title: 'Plot',
          session_title: 'Plot',
          status: 'running',
          updated_at: AT,
          ...ACCESS,
        },
      ],
    },
  ],
  [todayRuns, { team_id: UNASSIGNED_TEAM_ID, ...TODAY, items: [ITEM] }],
  [
    officeDetail,
    {
      session_id: ID,
      session_title: 'Plot',
      session_status: 'running',
      ...COST,
      message_count: 1,
      artifact_count: 0,
      messages: [MESSAGE],
      runs: [{ ...RUN, finished_at: null, elapsed_seconds: 12, total_cost_usd: 0.07 }],
    },
  ],
  [
    officeSession,
    {
      session_id: ID,
      title: 'Plot',
      status: 'running',
      kind: 'api',
      project_id: null,
      ...WHO,
      ...NO_TEAM,
      created_at: AT,
      updated_at: AT,
      current_run: RUN,
      last_error: null,
    },
  ],
  [
    officeMessages,
    {
      session_id: ID,
      items: [{ ...MESSAGE, content: { _type: 'UserMessage', content: [] }, attachments: [], run_id: ID }],
      has_more: false,
      next_before_id: null,
    },
  ],
  [
    officeSummary,
    {
      session_id: ID,
      title: 'Plot',
      status: 'running',
      message_count: 1,
      run_count: 1,
      tool_execution_count: 3,
      artifact_count: 0,
      ...COST,
      input_tokens: 18_000,
      output_tokens: 200,
      duration_ms: 12_000,
      first_message_preview: 'Plot it',
      last_message_preview: null,
      last_error: null,
    },
  ],
  [officeRuns, { session_id: ID, items: [ENTITY], ...PAGE }],
  [
    runRounds,
    {
      session_id: ID,
      items: [
        {
          round_no: 1,
          run_id: ID,
          status: 'running',
          user_message: 'Plot it',
          assistant_message: null,
          tools: [{ tool_use_id: 'call_1', name: 'shell', status: 'running', duration_ms: null }],
          input_tokens: 18_000,
          output_tokens: 200,
          cost_usd: 0.07,
          started_at: AT,
          finished_at: null,
        },
      ],
      ...PAGE,
    },
  ],
  [
    contextUsage,
    {
      session_id: ID,
      model: 'large',
      context_window: 100_000,
      used_tokens: 18_000,
      used_percent: 18,
      parts: { system: 2_000, history: 15_000, tools: 1_000 },
    },
  ],
  [officePicture, { url: 'http://127.0.0.1/files/a/b.png', filename: 'b.png' }],
  [officeArchive, { url: null, filename: 'workspace.zip' }],
];

test('every shape of Office Mode reads its example as it is, and refuses the same without one of its fields', {
  tags: ['§2.14-shapes'],
}, () => {
  for (const [shape, example] of EXAMPLES) {
    expect(shape.read(example, '')).toEqual(example);
    for (const name of Object.keys(example)) {
      const { [name]: _, ...rest } = example;
      expect(() => shape.read(rest, ''), name).toThrow(name);
    }
  }
});
