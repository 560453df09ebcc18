// How an expert team works together in one session: as it was when the session was opened (J1).

/** One agent: an expert as its file described it. The lists hold full names, those of its plugins included. */
export interface AgentPlan {
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
  /** A model of models.yaml; null is the model that the run would have without it. */
  readonly model: string | null;
  /** Names of built-in tools; null is all that the run has. */
  readonly tools: readonly string[] | null;
  readonly skills: readonly string[];
  readonly mcpServers: readonly string[];
  /** The connectors whose connections it may use, of those that its session has; null is all of them. */
  readonly connectors: readonly string[] | null;
  /** The agents of its session that it may delegate to as a sub-agent. */
  readonly subagents: readonly string[];
  /** Whether it may use the browser, when its session has it. */
  readonly browser: boolean;
}

/** A team: the lead answers the user and delegates to the members. */
export interface Orchestration {
  readonly team: string;
  readonly description: string;
  /** The team file's instructions for the lead, in addition to its own; may be empty. */
  readonly instructions: string;
  readonly lead: AgentPlan;
  readonly members: readonly AgentPlan[];
}
