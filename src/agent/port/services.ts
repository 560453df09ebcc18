// What tools request from the main thread, which has the rows and the credentials, and what they get.
import type { RunError } from '../../domain/sessions/run.ts';
import type { InsightPriority } from '../../domain/sessions/insight.ts';
import type { ModelGrant } from './grants.ts';

/** The text of a document, or why it has none, in words that follow its name. */
export type DocumentText = { readonly text: string } | { readonly fault: string };

/** What a tool can request from the main thread, and what it gets. Failures are text for the model. */
export interface Services {
  /** Stores an insight (I3). A second request for the same call has no effect. */
  report_insight: {
    readonly input: {
      readonly callId: string;
      readonly title: string;
      readonly summary: string;
      readonly priority: InsightPriority;
    };
    readonly output: { readonly insightId: string };
  };
  /** Calls a connected service with its credential (I4). Header names are in lower case. */
  connector_request: {
    readonly input: {
      readonly token: string;
      readonly connectionId: string;
      readonly method: string;
      /** Path and query below the connector's base address. */
      readonly path: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string | null;
    };
    readonly output: {
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
      readonly truncated: boolean;
    };
  };
  /** Reads the text of a document beneath a folder; null when it can't be read now. `version` changes with the file. */
  read_document: {
    readonly input: { readonly root: string; readonly path: string; readonly version: string };
    readonly output: DocumentText | null;
  };
  /**
   * Holds back what a model call may use at most from the run's budgets, and waits until they have room for it. `model` is
   * the catalog's name. `refusal`: a budget is used up, so the run fails with it.
   */
  hold_budget: {
    readonly input: { readonly model: string; readonly inputTokens: number; readonly outputTokens: number };
    readonly output: { readonly refusal: RunError | null };
  };
  /**
   * A model as models.yaml has it now, by the catalog's name; null when it has it no more. `hasAnswered`: its endpoint has, as it is
   * configured now.
   */
  current_model: {
    readonly input: { readonly model: string };
    readonly output: { readonly grant: ModelGrant; readonly hasAnswered: boolean } | null;
  };
  /** Stores what the browser showed at a call. */
  keep_screenshot: {
    readonly input: { readonly callId: string; readonly mimeType: string; readonly bytes: Uint8Array };
    readonly output: { readonly sha256: string };
  };
}

export type ServiceName = keyof Services;

/** A request to a service, with the service's own input. */
export type ServiceRequest<S extends ServiceName = ServiceName> = {
  readonly [N in S]: { readonly service: N; readonly input: Services[N]['input'] };
}[S];
