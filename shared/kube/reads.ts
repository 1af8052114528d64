// Reading: one object, one page, or a list page by page; each says how old its answer may be.
import type { Calls } from './calls.ts';
import { errorFromTransport, isAbsence, isKubeError, type KubeError } from './errors.ts';
import type { KubeList, KubeObject, ObjectName, ResourceRef } from './objects.ts';
import { PageSize } from './page-size.ts';
import { type Query, resourcePath } from './paths.ts';
import type { AboutResource, CallOptions, KubeRequest } from './request.ts';
import { skimPaths, skimmedObject } from './skimmed.ts';

/**
 * How old an answer may be. `latest`: nothing that was written before the read is missing. `any`:
 * whatever the API server has at hand, which may be older than what was read before.
 * `notOlderThan` a resourceVersion: at hand, but at least of then.
 */
export type Freshness = 'latest' | 'any' | { readonly notOlderThan: string };

/** A list may also be of one past moment, for as long as etcd remembers it. */
export type ListFreshness = Freshness | { readonly exact: string };

export interface GetOptions extends CallOptions {
  /** `latest` when absent. */
  readonly freshness?: Freshness;
  /** Reads the metadata of the object alone. */
  readonly metadataOnly?: boolean;
}

export interface Selection {
  /** All namespaces when absent. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface ListOptions extends Selection, CallOptions {
  /** `latest` when absent. */
  readonly freshness?: ListFreshness;
  readonly limit?: number;
  /**
   * The page is bounded in bytes (page-size.ts): what is more is asked for again with fewer
   * objects, and a single one that is too large is KUBE_TOO_LARGE. Needs a limit.
   */
  readonly isBounded?: boolean;
  /** Reads the metadata of each object alone. */
  readonly metadataOnly?: boolean;
  /** From the page before; freshness is then that of the first page. */
  readonly continue?: string;
}

/** Pages are bounded in bytes, always. */
export interface PagesOptions extends Omit<ListOptions, 'continue' | 'isBounded'> {
  /** Objects; pages of large ones have fewer. */
  readonly limit: number;
  /**
   * How to treat an object that is too large to be read. `fail` (when absent) throws
   * KUBE_TOO_LARGE; `skim` reads its identity and returns it as `tooLarge`.
   */
  readonly onTooLarge?: 'fail' | 'skim';
  /**
   * Takes each object of a page as soon as it was read, once. The page that follows has no items,
   * so that nothing large waits with it.
   */
  readonly take?: (object: KubeObject) => void;
  /**
   * How to treat a list that took so long that the API server compacted the revision of its first
   * page. `fail` (when absent) throws KUBE_EXPIRED; `inconsistent` goes on with the objects as they
   * are now, which the resourceVersion of the page tells.
   */
  readonly onExpired?: 'fail' | 'inconsistent';
}

export async function getObject(
  calls: Calls,
  ref: ResourceRef,
  target: ObjectName,
  options: GetOptions,
): Promise<KubeObject | null> {
  const request: KubeRequest = {
    about: { verb: 'get', ref, ...target },
    method: 'GET',
    path: resourcePath(ref, target),
    query: getQuery(options.freshness ?? 'latest'),
    as: options.metadataOnly === true ? 'PartialObjectMetadata' : undefined,
    repeat: 'always',
  };
  try {
    return await calls.json<KubeObject>(request, options);
  } catch (error) {
    if (isAbsence(error)) return null;
    throw error;
  }
}

export async function listPage(
  calls: Calls,
  ref: ResourceRef,
  options: ListOptions,
): Promise<KubeList> {
  const { limit } = options;
  if (options.isBounded === true && limit !== undefined) {
    return boundedPage(calls, ref, options, new PageSize(limit, limit));
  }
  const { value } = await calls.sized<SentList>(listRequest(ref, options), options);
  return { ...value, items: withTypes(value) };
}

function listRequest(ref: ResourceRef, options: ListOptions): KubeRequest {
  const { namespace, labelSelector, fieldSelector, limit, continue: from } = options;
  const freshness = from === undefined ? (options.freshness ?? 'latest') : 'latest';
  return {
    about: aboutSelection('list', ref, options),
    method: 'GET',
    path: resourcePath(ref, { namespace }),
    query: { labelSelector, fieldSelector, limit, continue: from, ...listQuery(freshness) },
    as: options.metadataOnly === true ? 'PartialObjectMetadataList' : undefined,
    repeat: 'always',
  };
}

/** The limit is no part of a token to continue with: it may change from page to page. */
async function boundedPage(
  calls: Calls,
  ref: ResourceRef,
  options: ListOptions & Pick<PagesOptions, 'take'>,
  size: PageSize,
): Promise<KubeList> {
  for (;;) {
    const { limit, bytesMax } = size;
    const request = { ...listRequest(ref, { ...options, limit }), bytesMax };
    try {
      const { value, bytes } = await calls.sized<SentList>(request, options);
      const items = withTypes(value);
      size.came(items.length, bytes);
      if (options.take === undefined) return { ...value, items };
      for (const item of items) options.take(item);
      return { ...value, items: [] };
    } catch (error) {
      if (!isKubeError(error, 'KUBE_TOO_LARGE') || !size.shrink()) throw error;
    }
  }
}

export async function* listPages(
  calls: Calls,
  ref: ResourceRef,
  options: PagesOptions,
): AsyncGenerator<KubeList, void, undefined> {
  const size = new PageSize(options.limit);
  let from: string | undefined;
  do {
    const page = await nextPage(calls, ref, options, from, size);
    yield page;
    from = page.metadata.continue;
  } while (from !== undefined && from !== '');
}

async function nextPage(
  calls: Calls,
  ref: ResourceRef,
  options: PagesOptions,
  from: string | undefined,
  size: PageSize,
): Promise<KubeList> {
  const at = (token: string | undefined): PagesOptions & ListOptions =>
    token === undefined ? options : { ...options, continue: token };
  try {
    return await pageOrSkimmed(calls, ref, at(from), size);
  } catch (error) {
    const isAccepted = options.onExpired === 'inconsistent' && isKubeError(error, 'KUBE_EXPIRED');
    const token = isAccepted ? error.answer?.continue : undefined;
    if (token === undefined) throw error;
    return pageOrSkimmed(calls, ref, at(token), size);
  }
}

async function pageOrSkimmed(
  calls: Calls,
  ref: ResourceRef,
  options: PagesOptions & ListOptions,
  size: PageSize,
): Promise<KubeList> {
  try {
    return await boundedPage(calls, ref, options, size);
  } catch (error) {
    if (!isKubeError(error, 'KUBE_TOO_LARGE') || options.onTooLarge !== 'skim') throw error;
    return skimPage(calls, ref, options);
  }
}

/** One object that is too large: who it is, and where the list goes on. */
async function skimPage(calls: Calls, ref: ResourceRef, options: ListOptions): Promise<KubeList> {
  const skim = ['kind', 'apiVersion', 'metadata.resourceVersion', 'metadata.continue'];
  const request = listRequest(ref, { ...options, limit: 1 });
  const found = await calls.json<Readonly<Record<string, string>>>(
    { ...request, skim: [...skim, ...skimPaths('items')] },
    options,
  );
  const { kind = '', apiVersion = '' } = found;
  const { 'metadata.resourceVersion': resourceVersion = '', 'metadata.continue': more = '' } =
    found;
  if (resourceVersion === '') throw endless(request);
  const object = skimmedObject('items', found, { kind: kind.replace(/List$/, ''), apiVersion });
  const tooLarge = object === undefined ? [] : [object];
  return { kind, apiVersion, metadata: { resourceVersion, continue: more }, items: [], tooLarge };
}

/** Every list says its version. Where that is not found, nor is whether there is more. */
const endless = ({ about }: KubeRequest): KubeError =>
  errorFromTransport(about, new Error('it answered a list that does not say its version'));

/** A field selector on one name is what RBAC checks resourceNames against. */
export function aboutSelection(
  verb: 'list' | 'watch',
  ref: ResourceRef,
  { namespace, fieldSelector }: Selection,
): AboutResource {
  const name = /(?:^|,)metadata\.name==?([^,]+)/.exec(fieldSelector ?? '')?.[1];
  return { verb, ref, namespace, name };
}

/** An empty list of metadata alone comes without `items`. */
type SentList = Omit<KubeList, 'items'> & { readonly items: KubeList['items'] | null };

/**
 * The items of a list of built-in kinds come without the type that each object has when it is
 * read alone.
 */
function withTypes({ apiVersion, kind, items }: SentList): readonly KubeObject[] {
  const itemKind = kind.replace(/List$/, '');
  return (items ?? []).map((item) =>
    item.kind === undefined ? { ...item, apiVersion, kind: itemKind } : item,
  );
}

function getQuery(freshness: Freshness): Query {
  if (freshness === 'latest') return {};
  return { resourceVersion: freshness === 'any' ? '0' : freshness.notOlderThan };
}

function listQuery(freshness: ListFreshness): Query {
  if (freshness === 'latest') return {};
  if (freshness !== 'any' && 'exact' in freshness) {
    return { resourceVersion: freshness.exact, resourceVersionMatch: 'Exact' };
  }
  return { ...getQuery(freshness), resourceVersionMatch: 'NotOlderThan' };
}
