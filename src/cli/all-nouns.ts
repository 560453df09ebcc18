// The nouns of the command line, in the order and under the headings of its help. Each is loaded when it is needed.
import type { Command } from 'commander';
import type { Io } from './frame/io.ts';

/** Adds a noun's commands. */
type AddNoun = (program: Command, io: Io) => void;

interface NounGroup {
  readonly heading: string;
  readonly nouns: Readonly<Record<string, () => Promise<AddNoun>>>;
}

const GROUPS: readonly NounGroup[] = [
  {
    heading: 'The daemon:',
    nouns: {
      serve: async () => (await import('./nouns/daemon/serve.ts')).addServe,
      init: async () => (await import('./nouns/daemon/init.ts')).addInit,
      status: async () => (await import('./nouns/daemon/status.ts')).addStatus,
      config: async () => (await import('./nouns/daemon/config.ts')).addConfig,
    },
  },
  {
    heading: 'Administration:',
    nouns: {
      logs: async () => (await import('./nouns/administration/logs.ts')).addLogs,
      doctor: async () => (await import('./nouns/administration/doctor.ts')).addDoctor,
      gc: async () => (await import('./nouns/administration/gc.ts')).addGc,
      selftest: async () => (await import('./nouns/administration/selftest.ts')).addSelftest,
      'support-bundle': async () => (await import('./nouns/administration/support-bundle.ts')).addSupportBundle,
      nodes: async () => (await import('./nouns/administration/nodes.ts')).addNodes,
      service: async () => (await import('./nouns/administration/service.ts')).addService,
    },
  },
  {
    heading: 'People and keys:',
    nouns: {
      users: async () => (await import('./nouns/people/users.ts')).addUsers,
      teams: async () => (await import('./nouns/people/teams.ts')).addTeams,
      keys: async () => (await import('./nouns/people/keys.ts')).addKeys,
      tokens: async () => (await import('./nouns/people/tokens.ts')).addTokens,
      connections: async () => (await import('./nouns/people/connections.ts')).addConnections,
      audit: async () => (await import('./nouns/people/audit.ts')).addAudit,
    },
  },
  {
    heading: 'Capabilities of agents:',
    nouns: {
      experts: async () => (await import('./nouns/capabilities/experts.ts')).addExperts,
      'expert-teams': async () => (await import('./nouns/capabilities/expert-teams.ts')).addExpertTeams,
      skills: async () => (await import('./nouns/capabilities/skills.ts')).addSkills,
      mcp: async () => (await import('./nouns/capabilities/mcp.ts')).addMcp,
      models: async () => (await import('./nouns/capabilities/models.ts')).addModels,
      connectors: async () => (await import('./nouns/capabilities/connectors.ts')).addConnectors,
      plugins: async () => (await import('./nouns/capabilities/plugins.ts')).addPlugins,
    },
  },
  {
    heading: 'Activity:',
    nouns: {
      office: async () => (await import('./nouns/work/office.ts')).addOffice,
      sessions: async () => (await import('./nouns/work/sessions.ts')).addSessions,
      runs: async () => (await import('./nouns/work/runs.ts')).addRuns,
      queue: async () => (await import('./nouns/work/queue.ts')).addQueue,
      inputs: async () => (await import('./nouns/work/inputs.ts')).addInputs,
      insights: async () => (await import('./nouns/work/insights.ts')).addInsights,
    },
  },
  {
    heading: 'Results and schedules:',
    nouns: {
      publishes: async () => (await import('./nouns/publishing/publishes.ts')).addPublishes,
      shares: async () => (await import('./nouns/publishing/shares.ts')).addShares,
      schedules: async () => (await import('./nouns/schedules/schedules.ts')).addSchedules,
    },
  },
  {
    heading: 'Integrations:',
    nouns: {
      webhooks: async () => (await import('./nouns/webhooks/webhooks.ts')).addWebhooks,
      deliveries: async () => (await import('./nouns/webhooks/deliveries.ts')).addDeliveries,
    },
  },
  {
    heading: 'Administration:',
    nouns: {
      backup: async () => (await import('./nouns/backups/backup.ts')).addBackup,
      store: async () => (await import('./nouns/administration/store.ts')).addStore,
      blobs: async () => (await import('./nouns/administration/blobs.ts')).addBlobs,
      budgets: async () => (await import('./nouns/administration/budgets.ts')).addBudgets,
    },
  },
  {
    heading: 'Talking to the agent:',
    nouns: {
      chat: async () => (await import('./nouns/work/chat.ts')).addChat,
    },
  },
  {
    heading: 'This command line:',
    nouns: {
      completion: async () => (await import('./nouns/completion.ts')).addCompletion,
      version: async () => (await import('./nouns/version.ts')).addVersion,
    },
  },
];

/**
 * Adds the noun that a command line begins with, or all of them when it begins with something else. A command starts faster
 * without the others, and a daemon keeps none of them in its memory.
 */
export async function addNouns(program: Command, io: Io, first = ''): Promise<void> {
  // A completion completes all of them.
  const isAlone = first !== 'completion' && GROUPS.some(({ nouns }) => Object.hasOwn(nouns, first));
  for (const { heading, nouns } of GROUPS) {
    program.commandsGroup(heading);
    for (const [noun, load] of Object.entries(nouns)) if (!isAlone || noun === first) (await load())(program, io);
  }
}
