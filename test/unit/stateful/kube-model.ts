// An API server as far as functions that keep servers in pods use one: resourceVersions,
// preconditions, server-side apply, and counts. A test can look at all that is there around each
// write; reads can be old.
import { isSelected, type Selection } from './selected.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { KubeError } from '../../../shared/kube/errors.ts';
import type {
  KubeObject,
  Manifest,
  ObjectName,
  ResourceRef,
} from '../../../shared/kube/objects.ts';
import { type Body, merge, withOwnersOf } from './merge-patch.ts';

export class KubeModel {
  readonly #objects = new Map<string, KubeObject>();
  /** The same by their resource: each look asks for one, and Events are many. */
  readonly #byResource = new Map<string, Map<string, KubeObject>>();
  reads = 0;
  /** In the order in which they were done, as `delete pods nats-2`. */
  readonly writes: string[] = [];
  /** Before each write is done, and after. */
  aroundWrite: () => void = () => undefined;
  /** How many changes ago a read is from; 0 is now. */
  staleness: () => number = () => 0;
  /** The change that others make between an observation and its delete. */
  beforeDelete: (resource: string, name: string) => void = () => undefined;
  /** Resources whose writes it refuses now. */
  refuses: (resource: string) => boolean = () => false;
  onDelete: (resource: string, object: KubeObject) => void = () => undefined;
  /** Deleted objects of these stay until a kubelet or a finalizer lets them go. */
  lingers: (resource: string) => boolean = (resource) => resource === 'pods';
  #version = 100;
  #uid = 0;
  /** The last changes, the newest first: what was there before each of them. */
  readonly #undone: Undo[] = [];

  /** By `resource/namespace/name`. */
  get objects(): ReadonlyMap<string, KubeObject> {
    return this.#objects;
  }

  /** Those of one resource, in the order in which they were made. */
  of(resource: string): ReadonlyMap<string, KubeObject> {
    return this.#byResource.get(resource) ?? NONE;
  }

  get client(): KubeClient {
    return this as unknown as KubeClient;
  }

  /** Another one in the same state; nobody changes an object in place. */
  copy(): KubeModel {
    const copy = new KubeModel();
    for (const [key, object] of this.#objects) copy.#objects.set(key, object);
    for (const [resource, of] of this.#byResource) copy.#byResource.set(resource, new Map(of));
    copy.reads = this.reads;
    copy.writes.push(...this.writes);
    copy.#version = this.#version;
    copy.#uid = this.#uid;
    copy.#undone.push(...this.#undone);
    return copy;
  }

  async get(ref: ResourceRef, target: ObjectName): Promise<KubeObject | null> {
    // The Lease of a sweep is no look at a cluster, and no write to one.
    if (ref.resource === 'leases') return null;
    this.reads += 1;
    return this.#seenAt(keyOf(ref, target)) ?? null;
  }

  /** No lists at once: what is listed here tenants write, and as much as they like. */
  async *pages(ref: ResourceRef, selection: Selection & { readonly limit?: number }) {
    const { limit = Number.POSITIVE_INFINITY } = selection;
    const beginning = `${ref.resource}/${selection.namespace ?? ''}`;
    const items = [...this.#seen(ref.resource)]
      .filter(([key, object]) => key.startsWith(beginning) && isSelected(object, ref, selection))
      .map(([, object]) => object);
    do {
      this.reads += 1;
      const page = items.splice(0, limit);
      yield { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '1' }, items: page };
    } while (items.length > 0);
  }

  async create(ref: ResourceRef, manifest: Manifest, { dryRun }: { dryRun?: boolean } = {}) {
    const key = keyOf(ref, manifest.metadata);
    const present = this.objects.get(key);
    if (present !== undefined) return { object: present, isNew: false };
    if (this.refuses(`${ref.resource} to be created`)) {
      throw new KubeError('KUBE_INVALID', 'It is not valid.', { verb: 'create', ref });
    }
    if (dryRun === true) return { object: manifest as unknown as KubeObject, isNew: true };
    const object = await this.write(`create ${ref.resource} ${manifest.metadata.name}`, () =>
      this.put(ref, manifest),
    );
    return { object, isNew: true };
  }

  async apply(
    ref: ResourceRef,
    manifest: Manifest,
    options: { readonly subresource?: string; readonly fieldManager?: string },
  ) {
    const { name, resourceVersion } = manifest.metadata;
    if (ref.resource === 'leases') return this.put(ref, manifest);
    const present = this.objects.get(keyOf(ref, manifest.metadata));
    if (resourceVersion !== undefined && present?.metadata.resourceVersion !== resourceVersion) {
      throw conflict(ref, name);
    }
    if (this.refuses(ref.resource)) {
      const message = 'requests must be less than or equal to memory limit';
      throw new KubeError('KUBE_INVALID', message, { verb: 'patch', ref });
    }
    const { subresource, fieldManager = '' } = options;
    const where = subresource === undefined ? '' : `/${subresource}`;
    if (present !== undefined && claimsIn(present) !== claimsIn(manifest)) {
      throw new KubeError('KUBE_INVALID', 'Claim templates do not change.', { verb: 'patch', ref });
    }
    return this.write(`apply ${ref.resource}${where} ${name}`, () =>
      subresource === 'status' && present !== undefined
        ? this.#putStatus(ref, present, manifest['status'] as Body, fieldManager)
        : this.put(ref, manifest),
    );
  }

  /** As the API server, which holds a patch against the uid and the version in it. */
  async patch(
    ref: ResourceRef,
    target: ObjectName,
    { type, body: asked }: { readonly type?: string; readonly body: Body },
    { dryRun }: { readonly dryRun?: boolean } = {},
  ) {
    const present = this.objects.get(keyOf(ref, target));
    if (present === undefined) {
      throw new KubeError('KUBE_NOT_FOUND', 'It is gone.', { verb: 'patch', ref });
    }
    const body = type === 'strategic' ? withOwnersOf(present, asked) : asked;
    const { uid, resourceVersion } = (body['metadata'] ?? {}) as Partial<KubeObject['metadata']>;
    const isMeant =
      (uid === undefined || present.metadata.uid === uid) &&
      (resourceVersion === undefined || present.metadata.resourceVersion === resourceVersion);
    if (!isMeant) throw conflict(ref, target.name);
    if (this.refuses(`${ref.resource} to be patched`)) throw refusal('patch', ref);
    if (dryRun === true) return present;
    return this.write(`patch ${ref.resource} ${target.name}`, () => this.change(ref, target, body));
  }

  async delete(
    ref: ResourceRef,
    target: ObjectName,
    { uid, resourceVersion }: { readonly uid?: string; readonly resourceVersion?: string },
    { dryRun }: { readonly dryRun?: boolean } = {},
  ) {
    this.beforeDelete(ref.resource, target.name);
    const present = this.objects.get(keyOf(ref, target));
    if (present === undefined) return 'absent';
    const isMeant =
      (uid === undefined || present.metadata.uid === uid) &&
      (resourceVersion === undefined || present.metadata.resourceVersion === resourceVersion);
    if (!isMeant) throw conflict(ref, target.name);
    if (this.refuses(`${ref.resource} to be deleted`)) throw refusal('delete', ref);
    if (dryRun === true) return 'deleting';
    await this.write(`delete ${ref.resource} ${target.name}`, () => {
      this.onDelete(ref.resource, present);
      if (this.lingers(ref.resource)) this.change(ref, target, { metadata: ENDING });
      else this.remove(ref, target);
      return present;
    });
    return 'deleting';
  }

  /** As others write; it counts for nobody. */
  put(ref: ResourceRef, manifest: Manifest): KubeObject {
    const key = keyOf(ref, manifest.metadata);
    const present = this.objects.get(key);
    const { metadata: wanted, ...body } = manifest;
    const kept = present === undefined ? {} : { status: present['status'] };
    const merged = { ...kept, ...body };
    const { resourceVersion: _, ...named } = wanted;
    return this.#store(ref, present, {
      ...merged,
      metadata: { ...present?.metadata, ...named },
    } as unknown as KubeObject);
  }

  change(ref: ResourceRef, target: ObjectName, body: Body): KubeObject {
    const key = keyOf(ref, target);
    const present = this.objects.get(key);
    if (present === undefined) throw new Error(`there is no ${key}`);
    return this.#store(ref, present, merge(present, body) as unknown as KubeObject);
  }

  remove(ref: ResourceRef, target: ObjectName): void {
    const key = keyOf(ref, target);
    this.#remember(key);
    this.#objects.delete(key);
    this.#byResource.get(ref.resource)?.delete(key);
  }

  #putStatus(ref: ResourceRef, present: KubeObject, status: Body, manager: string): KubeObject {
    const fields = Object.fromEntries(Object.keys(status).map((name) => [`f:${name}`, {}]));
    const entry = {
      manager,
      operation: 'Apply',
      subresource: 'status',
      apiVersion: present.apiVersion,
      fieldsV1: { 'f:status': fields },
    };
    const metadata = { ...present.metadata, managedFields: [entry] };
    return this.#store(ref, present, { ...present, metadata, status });
  }

  #store(ref: ResourceRef, present: KubeObject | undefined, next: KubeObject): KubeObject {
    const key = keyOf(ref, next.metadata);
    const isEdited = present === undefined || !isSameText(present['spec'], next['spec']);
    this.#version += 1;
    // Whether an Event was made is no difference: nobody reads them.
    this.#uid += present === undefined && ref.resource !== 'events' ? 1 : 0;
    const metadata = {
      ...next.metadata,
      uid: present?.metadata.uid ?? `u${this.#uid}`,
      creationTimestamp: (present ?? next).metadata.creationTimestamp ?? '2026-01-01T00:00:00Z',
      generation: (present?.metadata.generation ?? 0) + (isEdited ? 1 : 0),
      resourceVersion: String(this.#version),
    };
    this.#remember(key);
    const stored = { ...next, metadata };
    this.#objects.set(key, stored);
    const of = this.#byResource.get(ref.resource) ?? new Map<string, KubeObject>();
    this.#byResource.set(ref.resource, of.set(key, stored));
    return stored;
  }

  #remember(key: string): void {
    this.#undone.unshift({ key, before: this.objects.get(key) });
    this.#undone.length = Math.min(this.#undone.length, PAST_MAX);
  }

  #past(): readonly Undo[] {
    const ago = this.staleness();
    return ago > this.#undone.length ? [] : this.#undone.slice(0, ago);
  }

  #seenAt(key: string): KubeObject | undefined {
    const undone = this.#past().findLast((one) => one.key === key);
    return undone === undefined ? this.#objects.get(key) : undone.before;
  }

  #seen(resource: string): ReadonlyMap<string, KubeObject> {
    const undone = this.#past().filter(({ key }) => key.startsWith(`${resource}/`));
    if (undone.length === 0) return this.of(resource);
    const past = new Map(this.of(resource));
    for (const { key, before } of undone) {
      if (before === undefined) past.delete(key);
      else past.set(key, before);
    }
    return past;
  }

  /** A point at which the process may die; what is changed in NATS has one too. */
  async write<Result>(write: string, change: () => Result): Promise<Result> {
    this.aroundWrite();
    this.writes.push(write);
    const result = change();
    this.aroundWrite();
    return result;
  }
}

interface Undo {
  readonly key: string;
  readonly before: KubeObject | undefined;
}

const PAST_MAX = 8;
const NONE: ReadonlyMap<string, KubeObject> = new Map();
const ENDING = { deletionTimestamp: '2026-01-01T00:00:00Z' };

const keyOf = ({ resource }: ResourceRef, { namespace = '', name }: ObjectName): string =>
  `${resource}/${namespace}/${name}`;

/** The claims in a StatefulSet; the same text for everything else. */
const claimsIn = (object: object): string =>
  JSON.stringify((object as { readonly spec?: Body }).spec?.['volumeClaimTemplates'] ?? []);

const isSameText = (a: unknown, b: unknown): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b);

const refusal = (verb: 'patch' | 'delete', ref: ResourceRef): KubeError =>
  new KubeError('KUBE_FORBIDDEN', 'A policy says no.', { verb, ref });

function conflict(ref: ResourceRef, name: string): KubeError {
  const about = { verb: 'patch', ref, name } as const;
  return new KubeError('KUBE_CONFLICT', 'Somebody else was first.', about);
}
