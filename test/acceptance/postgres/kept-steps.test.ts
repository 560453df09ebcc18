// A node that is lost in the midst of a run takes the files of one step with it, where they are recorded after each step.
import { expect, onTestFinished, test } from 'vitest';
import { startInstallation } from '../../support/daemon/installation.ts';
import { takeTurn } from '../../support/daemon/turn.ts';
import { startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const STEPS = 3;
const pathOf = (step: number) => `step-${step}/made.txt`;

interface RunArtifacts {
  readonly artifact_status: string;
  readonly files: readonly { readonly path: string; readonly oss_status: string }[];
}

test('the run goes on at another node with what it had made, and all of it is among its artifacts', {
  tags: ['L4'],
}, async () => {
  const model = await startModelServer();
  onTestFinished(() => model.close());
  let isLost = false;
  model.script(({ step }) => {
    if (step < STEPS)
      return {
        tools: [{ name: 'write_file', input: { path: pathOf(step), content: `${step}`.repeat(step * 70_000 + 1) } }],
      };
    return isLost ? { text: 'done' } : { hang: 'before-headers' };
  });
  const errandYaml = 'workers: { threads: 1, runs_per_thread: 3 }\nworkspace: { checkpoint: step }\n';
  const { nodes } = await startInstallation(2, { modelServerUrl: model.url, errandYaml }, { onTestFinished });
  const [north, south] = nodes;
  await south!.admin('POST', '/api/v1/nodes/south/drain');
  const { runId } = await takeTurn(north!, { content: 'work', body: { background: true, idempotency_key: 'steps' } });
  // The write of the last step has waited until the steps before it were recorded.
  await model.waitForRequest(STEPS + 1);
  await north!.kill();
  isLost = true;
  await south!.admin('POST', '/api/v1/nodes/south/undrain');
  await waitFor(
    async () => ((await south!.admin('GET', `/api/v1/runs/${runId!}`)) as { status: string }).status === 'completed',
  );
  const found = await waitFor(async () => {
    const own = (await south!.admin('GET', `/api/v1/runs/${runId!}/artifacts`)) as RunArtifacts;
    return own.artifact_status === 'pending' ? null : own;
  });
  expect(found.artifact_status).toBe('ready');
  const files = found.files.map(({ path, oss_status }) => `${oss_status} ${path}`);
  expect(files).toEqual(expect.arrayContaining([0, 1].map((step) => `added /${pathOf(step)}`)));
  // Of the last step, either its file is there, or the agent was told of its call.
  const isKept = files.includes(`added /${pathOf(2)}`);
  const asked = JSON.stringify(model.requests.at(-1)!.body);
  expect(asked.includes('your workspace had to be restored')).toBe(!isKept);
  if (!isKept)
    expect(asked).toContain(
      `as it was after step 2 of this turn. What these calls have left in it since then is gone:\\n- writes ${pathOf(2)} (step 3)`,
    );
});
