// Defines a function: a name, a purpose, the events it wakes on, its configuration, its
// dependencies (`deps`) and its handler. `defineFunction` refuses at once definitions that could
// only fail later.
import type { CloudEventV1 } from 'cloudevents';
import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import { type ConfigShape, type Variable, isRequired, variablesOf } from './config.ts';
import type { Metrics } from './metrics.ts';
import { type RuntimeConfig, runtimeShape } from './runtime-config.ts';

/** As the runtime hands it over: valid by CloudEvents 1.0.2, its data decoded. */
export type IncomingEvent = CloudEventV1<unknown>;
export type OutgoingEvent = CloudEventV1<unknown>;

/** Lives as long as the process. */
export interface Scope {
  readonly log: Logger;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** Every event comes with a token of the cluster, of a sender that was named. */
  readonly asksTokens: boolean;
  /** Aborts when the process ends: after requests in flight are done, before `deps` are closed. */
  readonly signal: AbortSignal;
}

/** Lives as long as one request. */
export interface Context<Deps> {
  readonly deps: Deps;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** Writes the event's id, type, subject, object and traceparent into every line. */
  readonly log: Logger;
  /**
   * Aborts at the deadline, when the caller goes away, or when the grace of a drain is over. Hand
   * it to every call.
   */
  readonly signal: AbortSignal;
  readonly traceparent: string | undefined;
}

export interface RouteRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The JSON of a POST; undefined when it had no body. */
  readonly body: unknown;
  /** The body of a route that takes a file, as it came. */
  readonly file?: Buffer;
}

/** A route that takes a file instead of JSON. */
export interface FileBody {
  readonly sizeBytesMax: number;
  /** Advice to the sender of a larger one; ends a sentence. */
  readonly advice: string;
  /** Whether it is JSON that the route reads itself, as exactly as it came. */
  readonly isJson?: boolean;
}

export interface Answer {
  /** 200 when absent; never 408, 409 or 500, on which senders drop an event. */
  readonly status?: number;
  readonly body: unknown;
  /** The answer to a caller that asked for text; a table made of the body when absent. */
  readonly text?: string;
  /** Sent instead of the body, to every caller. */
  readonly file?: { readonly type: string; readonly content: string | Uint8Array };
}

export interface Route<Deps> {
  readonly method: 'GET' | 'POST';
  /** In Express' syntax: `/pods/:namespace`. */
  readonly path: string;
  readonly summary: string;
  readonly takesFile?: FileBody;
  /** Tells nothing of a cluster: for anybody, also where the function answers senders alone. */
  readonly isOpen?: boolean;
  handle(request: RouteRequest, context: Context<Deps>): Answer | Promise<Answer>;
}

/** The function as its callers see it. */
export interface Behaviour<Deps> {
  readonly name: string;
  /** One sentence. */
  readonly purpose: string;
  /** The event types it takes (EVERY_TYPE: all); everything else is rejected with a reason. */
  readonly wakesOn: readonly string[];
  /** No event as answer means 204. */
  handle?(event: IncomingEvent, context: Context<Deps>): Promise<OutgoingEvent | undefined>;
  readonly routes?: readonly Route<Deps>[];
  /** Its routes answer senders alone, whatever the settings say; this machine, if they say none. */
  readonly isForSenders?: boolean;
  /** On all that it answers but probes and metrics. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface FunctionDefinition<Config extends object, Deps> extends Behaviour<Deps> {
  readonly config: ConfigShape<Config>;
  /** Which values do not go together that each hold by themselves: a phrase for each such case. */
  conflicts?(
    config: Readonly<NoInfer<Config>>,
    runtime: Readonly<RuntimeConfig>,
  ): readonly string[];
  /**
   * Makes `deps` without a call to any of them: they connect when first used, so that a cold
   * start waits for nobody.
   */
  open(config: Readonly<Config>, scope: Scope): Deps | Promise<Deps>;
  /**
   * The JSON at a path of the API server, which knows the keys that senders' tokens are signed
   * with. A function without it cannot be told to ask for tokens.
   */
  readApiServer?(deps: NoInfer<Deps>, path: string, signal: AbortSignal): Promise<unknown>;
  /** Once it listens, for what stands before the port that it listens on; `host` as it was told. */
  listening?(deps: NoInfer<Deps>, port: number, host: string | undefined): Promise<void>;
  close?(deps: Deps): Promise<void>;
}

const NAME = /^[a-z][a-z0-9-]*$/;
const ENV_NAME = /^[A-Z][A-Z0-9_]*$/;
/** Paths that the runtime answers itself. */
export const OWN_PATHS: readonly string[] = ['/health/liveness', '/health/readiness', '/metrics'];
const defined = new WeakSet<object>();

export function defineFunction<Config extends object, Deps>(
  definition: FunctionDefinition<Config, Deps>,
): FunctionDefinition<Config, Deps> {
  const problems = [
    ...identityProblems(definition),
    ...variablesOf(definition.config).flatMap(([, variable]) => variableProblems(variable)),
    ...(definition.routes ?? []).flatMap((route) => routeProblems(route)),
  ];
  if (problems.length > 0) {
    throw new TypeError(
      `The function '${definition.name}' is not defined well: ${problems.join('; ')}.`,
    );
  }
  const frozen = Object.freeze({ ...definition });
  defined.add(frozen);
  return frozen;
}

/** For entries that import a function by its path: the definition that its index.ts exports. */
export function definitionIn(module: unknown, path: string): FunctionDefinition<object, unknown> {
  const exported = typeof module === 'object' && module !== null ? Object.values(module) : [];
  const [definition, second] = exported.filter((value) => isDefinition(value));
  if (definition !== undefined && second === undefined) return definition;
  throw new TypeError(`${path} exports not exactly one function made by defineFunction.`);
}

function isDefinition(value: unknown): value is FunctionDefinition<object, unknown> {
  return typeof value === 'object' && value !== null && defined.has(value);
}

function identityProblems<Deps>(definition: Behaviour<Deps>): string[] {
  const { name, purpose, wakesOn, routes = [] } = definition;
  const hasHandle = definition.handle !== undefined;
  const repeated = wakesOn.filter((type, index) => wakesOn.indexOf(type) !== index);
  return [
    NAME.test(name) ? '' : 'its name is not a Kubernetes name',
    purpose.trim().endsWith('.') ? '' : 'its purpose is not a sentence',
    !hasHandle && routes.length === 0 ? 'it has neither handle nor routes' : '',
    !hasHandle && wakesOn.length > 0 ? 'it wakes on events but has no handle' : '',
    hasHandle && wakesOn.length === 0 ? 'it has a handle but wakes on nothing' : '',
    ...repeated.map((type) => `it wakes on ${type} twice`),
  ].filter((problem) => problem !== '');
}

function variableProblems(variable: Variable<unknown>): string[] {
  const { env, example } = variable;
  const ofRuntime = variablesOf(runtimeShape).some(([, own]) => own.env === env);
  const isOpen = isRequired(variable) && example === undefined;
  return [
    ENV_NAME.test(env) ? '' : `${env} is not the name of an environment variable`,
    ofRuntime ? `${env} belongs to the runtime` : '',
    isOpen ? `${env} has neither fallback nor example` : '',
    example === undefined || parses(variable, example)
      ? ''
      : `the example of ${env} does not parse`,
  ].filter((problem) => problem !== '');
}

function parses(variable: Variable<unknown>, example: string): boolean {
  try {
    variable.parse(example);
    return true;
  } catch {
    return false;
  }
}

function routeProblems({ method, path }: Pick<Route<unknown>, 'method' | 'path'>): string[] {
  const isOwn = OWN_PATHS.includes(path) || (path === '/' && method === 'GET');
  return [
    path.startsWith('/') ? '' : `the path ${path} does not begin with a slash`,
    isOwn ? `${method} ${path} belongs to the runtime` : '',
  ].filter((problem) => problem !== '');
}
