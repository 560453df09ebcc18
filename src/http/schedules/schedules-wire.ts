// Converts scheduled tasks between the wire and the domain (I1, I5).
import { isoTime, isoTimeOrNull } from '../../domain/clock.ts';
import type { Firing } from '../../domain/schedules/task.ts';
import type { NewTaskInput, TaskInput, TaskView } from '../../operations/schedules/schedules.ts';
import type { WantedStep } from '../../operations/schedules/task-steps.ts';
import type {
  FiringWire,
  NewScheduledTaskWire,
  ScheduledTaskChangeWire,
  ScheduledTaskWire,
} from '../../wire/schedules/scheduled-task.ts';

/** The fields that both requests have. */
export function taskInputOf(body: ScheduledTaskChangeWire): TaskInput {
  const { name, cron, timezone, prompt, steps, target, project_id: projectId, enabled, overlap } = body;
  return {
    ...(name !== undefined && { name }),
    ...(cron !== undefined && { cron }),
    ...(timezone !== undefined && { timezone }),
    ...(prompt !== undefined && { prompt }),
    ...(steps !== undefined && { steps: steps?.map(wantedStepOf) ?? null }),
    ...(target !== undefined && { target }),
    ...(projectId !== undefined && { projectId }),
    ...(enabled !== undefined && { enabled }),
    ...(overlap !== undefined && { overlap }),
  };
}

type StepWire = NonNullable<ScheduledTaskChangeWire['steps']>[number];

function wantedStepOf(step: StepWire): WantedStep {
  const { scheduled_task_step_id: id = null, prompt } = step;
  return { id, prompt };
}

export function newTaskOf(body: NewScheduledTaskWire): NewTaskInput {
  const { name, cron, user = null } = body;
  return { ...taskInputOf(body), name, cron, user };
}

export function renderTask(task: TaskView): ScheduledTaskWire {
  return {
    scheduled_task_id: task.id,
    name: task.name,
    cron: task.cron,
    timezone: task.timezone,
    prompt: task.prompt,
    steps: task.steps.map(({ id, prompt }) => ({ scheduled_task_step_id: id, prompt })),
    owner: { user_id: task.userId, username: task.username },
    target: task.target,
    project_id: task.projectId,
    enabled: task.enabled,
    overlap: task.overlap,
    next_fires_at: task.nextFirings.map(isoTime),
    last_fired_at: isoTimeOrNull(task.lastFiredAt),
    last_status: task.lastStatus,
    last_skipped_at: isoTimeOrNull(task.lastSkippedAt),
    created_at: isoTime(task.createdAt),
    updated_at: isoTime(task.updatedAt),
  };
}

export function renderFiring(firing: Firing): FiringWire {
  return {
    id: firing.id,
    scheduled_task_id: firing.taskId,
    session_id: firing.sessionId,
    due_at: isoTime(firing.dueAt),
    trigger: firing.trigger,
    status: firing.status,
    step_no: firing.stepNo,
    step_count: firing.stepCount,
    created_at: isoTime(firing.createdAt),
    ended_at: isoTimeOrNull(firing.endedAt),
  };
}
