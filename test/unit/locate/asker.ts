// Asks the routes of locate without HTTP, of a catalog that the test fills. Every answer is held
// against the OpenAPI description.
import { Deps, type Keys, type Reader } from '../../../functions/locate/deps.ts';
import { routes } from '../../../functions/locate/routes.ts';
import { Failure } from '../../../shared/errors.ts';
import type { Context } from '../../../shared/function/define.ts';
import { Catalog } from '../../../shared/nats/replica/catalog.ts';
import { type EntryText, entryOf } from '../replica/entries.ts';
import { mismatches } from './schema-check.ts';

/** Nobody shows a token here. */
const NO_KEYS: Keys = { read: async () => undefined, close: async () => undefined };
export const NOW = '2026-11-21T12:00:00.000Z';

export interface Told {
  readonly status: number;
  readonly body: Record<string, never>;
  readonly text: string;
  readonly code: string | undefined;
  readonly field: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly message: string;
}

export class World {
  readonly catalog = new Catalog({ historySeconds: 3_600 });
  state: Reader['state'] = { phase: 'current', version: 100 };
  counts: Record<string, number> = {};
  /** The outcome of waiting for the first whole picture, or for a version. */
  whenCurrent: Reader['whenCurrent'] = (options) =>
    new Promise((_, reject) => {
      const signal = options?.signal;
      const end = (): void => reject(signal?.reason);
      if (signal?.aborted === true) end();
      else signal?.addEventListener('abort', end);
    });
  #deps: Deps | undefined;

  put(parts: EntryText): void {
    this.catalog.put(entryOf({ namespace: 'shop', ...parts }));
  }

  async ask(target: string, body?: unknown, signal?: AbortSignal): Promise<Told> {
    const url = new URL(target, 'http://locate');
    const method = body === undefined ? 'GET' : 'POST';
    const route = routes.find((one) => one.path === url.pathname && one.method === method);
    if (route === undefined) throw new Error(`no route ${method} ${url.pathname}`);
    const context = {
      deps: (this.#deps ??= this.#open()),
      clock: { nowMs: () => Date.parse(NOW) },
      signal: signal ?? new AbortController().signal,
    } as unknown as Context<Deps>;
    const nothing = { code: undefined, field: undefined, retryAfterMs: undefined, message: '' };
    try {
      const query = url.searchParams;
      const answer = await route.handle({ params: {}, query, body }, context);
      assertDescribed(method, url.pathname, answer.body);
      const told = answer.body as Record<string, never>;
      return { ...nothing, status: 200, body: told, text: answer.text ?? '' };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const { status, code, field, message, retryAfterMs } = error;
      return { status, code, field, message, retryAfterMs, body: {}, text: '' };
    }
  }

  #open(): Deps {
    const reader = {
      catalog: this.catalog,
      whenCurrent: ((options) => this.whenCurrent(options)) satisfies Reader['whenCurrent'],
      close: () => Promise.resolve(),
    };
    Object.defineProperty(reader, 'state', { get: () => this.state });
    Object.defineProperty(reader, 'counts', { get: () => this.counts });
    return new Deps(reader as unknown as Reader, 30, NO_KEYS);
  }
}

interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly parameters: readonly {
    readonly name: string;
    readonly required: boolean;
    readonly example: unknown;
  }[];
  readonly requestBody?: unknown;
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, { readonly schema: object }>> }>
  >;
}

export async function description(): Promise<Described> {
  const { body } = await new World().ask('/openapi.json');
  return body as unknown as Described;
}

let known: Described | undefined;

function assertDescribed(method: string, path: string, body: unknown): void {
  if (path === '/openapi.json') known = body as Described;
  const { [path]: operations } = known?.paths ?? {};
  const answer = operations?.[method.toLowerCase()]?.responses['200'];
  const schema = answer?.content['application/json']?.schema;
  if (schema === undefined) return;
  const wrong = mismatches(schema, JSON.parse(JSON.stringify(body)), path);
  if (wrong.length > 0) throw new Error(`not as described: ${wrong.join('; ')}`);
}
