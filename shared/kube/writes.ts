// Writing: every change says on what it rests (a field manager, a resourceVersion, a uid), so
// that two writers at once never undo each other unknowingly.
import { Failure } from '../errors.ts';
import type { Calls } from './calls.ts';
import { isAbsence, isKubeError } from './errors.ts';
import { isRecord, textOf } from './json.ts';
import type {
  KubeObject,
  Manifest,
  NamelessManifest,
  ObjectName,
  ResourceRef,
  VersionedManifest,
} from './objects.ts';
import { describeObject, type Query, resourcePath } from './paths.ts';
import { getObject } from './reads.ts';
import type { CallOptions, KubeRequest, Method, Verb } from './request.ts';
import type { Repeat } from './retry.ts';

export interface WriteOptions extends CallOptions {
  /** The client's own when absent. */
  readonly fieldManager?: string;
  /** Asks what would happen, admission included, and changes nothing. */
  readonly dryRun?: boolean;
}

export interface PatchOptions extends WriteOptions {
  /** Answers the metadata of the object alone. */
  readonly metadataOnly?: boolean;
}

export interface ApplyOptions extends PatchOptions {
  /** Whether to take fields from other managers; without it, their fields are a KUBE_CONFLICT. */
  readonly force: boolean;
  /** `status`, mostly. */
  readonly subresource?: string;
}

export interface UpdateOptions extends WriteOptions {
  readonly subresource?: string;
}

export type Patch =
  | { readonly type: 'merge' | 'strategic'; readonly body: Readonly<Record<string, unknown>> }
  | { readonly type: 'json'; readonly body: readonly JsonPatchOperation[] };

export interface JsonPatchOperation {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

export interface Created {
  readonly object: KubeObject;
  /**
   * False when an object of this name was there before; it may differ from what was to be
   * created.
   */
  readonly isNew: boolean;
}

/** Conditions under which the object may be deleted. */
export type Precondition =
  | { readonly uid: string; readonly resourceVersion?: string }
  | { readonly uid?: string; readonly resourceVersion: string }
  | { readonly precondition: 'none'; readonly because: string };

export interface DeleteOptions extends Omit<WriteOptions, 'fieldManager'> {
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan';
  readonly gracePeriodSeconds?: number;
}

/** `deleting`: finalizers, or the grace of a pod, still hold it. `absent`: it was not there. */
export type Deletion = 'gone' | 'deleting' | 'absent';

const PATCH_TYPES: Readonly<Record<Patch['type'], string>> = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
};

export class Writes {
  readonly #calls: Calls;
  readonly #fieldManager: string;

  constructor(calls: Calls, fieldManager: string) {
    this.#calls = calls;
    this.#fieldManager = fieldManager;
  }

  apply(ref: ResourceRef, manifest: Manifest, options: ApplyOptions): Promise<KubeObject> {
    const request = this.#write(
      'patch',
      'PATCH',
      ref,
      targetOf(manifest, options.subresource),
      options,
    );
    return this.#calls.json(
      {
        ...request,
        query: { ...request.query, force: options.force },
        body: manifest,
        // JSON is YAML.
        contentType: 'application/apply-patch+yaml',
        as: bringsDown(options),
        repeat: 'always',
      },
      options,
    );
  }

  patch(
    ref: ResourceRef,
    target: ObjectName,
    patch: Patch,
    options: PatchOptions,
  ): Promise<KubeObject> {
    const request = {
      ...this.#write('patch', 'PATCH', ref, target, options),
      body: patch.body,
      contentType: PATCH_TYPES[patch.type],
      as: bringsDown(options),
      repeat: repeatOf(patch),
    };
    return this.#calls.json(request, options);
  }

  update(ref: ResourceRef, object: VersionedManifest, options: UpdateOptions): Promise<KubeObject> {
    const target = targetOf(object, options.subresource);
    if (!object.metadata.resourceVersion) {
      const message =
        `An update of ${describeObject(ref, target)} without a resourceVersion would overwrite ` +
        'what others wrote: read it first.';
      throw new Failure('INTERNAL_BUG', message);
    }
    const request = this.#write('update', 'PUT', ref, target, options);
    return this.#calls.json({ ...request, body: object, repeat: 'always' }, options);
  }

  async create(
    ref: ResourceRef,
    manifest: Manifest | NamelessManifest,
    options: WriteOptions,
  ): Promise<Created> {
    const { name, namespace } = manifest.metadata;
    const place = { name, namespace };
    const request: KubeRequest = {
      ...this.#write('create', 'POST', ref, place, options),
      path: resourcePath(ref, { namespace }),
      body: manifest,
      repeat: name === undefined ? 'unsent' : 'always',
    };
    try {
      return { object: await this.#calls.json<KubeObject>(request, options), isNew: true };
    } catch (error) {
      if (name === undefined || !isKubeError(error, 'KUBE_ALREADY_EXISTS')) throw error;
      const { signal, timeoutMs } = options;
      const target = { name, ...(namespace === undefined ? {} : { namespace }) };
      const object = await getObject(this.#calls, ref, target, { signal, timeoutMs });
      // Deleted in between: the caller looks again and finds its place free.
      if (object === null) throw error;
      return { object, isNew: false };
    }
  }

  /** A POST to a sub-resource: `eviction`, `token`, `binding`. */
  createSubresource(
    ref: ResourceRef,
    target: ObjectName & { readonly subresource: string },
    body: Readonly<Record<string, unknown>>,
    options: WriteOptions,
  ): Promise<KubeObject> {
    const request = this.#write('create', 'POST', ref, target, options);
    return this.#calls.json({ ...request, body, repeat: 'unsent' }, options);
  }

  async delete(
    ref: ResourceRef,
    target: Omit<ObjectName, 'subresource'>,
    precondition: Precondition,
    options: DeleteOptions,
  ): Promise<Deletion> {
    const preconditions = preconditionsOf(ref, target, precondition);
    const { propagationPolicy, gracePeriodSeconds, dryRun } = options;
    const request: KubeRequest = {
      about: { verb: 'delete', ref, ...target },
      method: 'DELETE',
      path: resourcePath(ref, target),
      body: {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        ...(preconditions === undefined ? {} : { preconditions }),
        ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
        ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
        ...(dryRun === true ? { dryRun: ['All'] } : {}),
      },
      repeat: preconditions === undefined ? 'unsent' : 'always',
    };
    try {
      const { metadata } = await this.#calls.json<Partial<KubeObject>>(request, options);
      return metadata?.deletionTimestamp === undefined ? 'gone' : 'deleting';
    } catch (error) {
      if (isAbsence(error)) return 'absent';
      throw error;
    }
  }

  #write(
    verb: Verb,
    method: Method,
    ref: ResourceRef,
    place: {
      readonly namespace?: string | undefined;
      readonly name?: string | undefined;
      readonly subresource?: string | undefined;
    },
    { fieldManager = this.#fieldManager, dryRun }: WriteOptions,
  ): Omit<KubeRequest, 'repeat'> {
    const query: Query = { fieldManager, ...(dryRun === true ? { dryRun: 'All' } : {}) };
    return { about: { verb, ref, ...place }, method, path: resourcePath(ref, place), query };
  }
}

const bringsDown = ({ metadataOnly }: PatchOptions): KubeRequest['as'] =>
  metadataOnly === true ? 'PartialObjectMetadata' : undefined;

/** A uid is not enough: the second patch would undo what another wrote after the first. */
function repeatOf(patch: Patch): Repeat {
  if (patch.type !== 'merge') return 'unsent';
  const { metadata } = patch.body;
  return isRecord(metadata) && textOf(metadata['resourceVersion']) !== '' ? 'always' : 'unsent';
}

function targetOf({ metadata }: Manifest, subresource: string | undefined): ObjectName {
  const { name, namespace } = metadata;
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(subresource === undefined ? {} : { subresource }),
  };
}

function preconditionsOf(
  ref: ResourceRef,
  target: ObjectName,
  precondition: Precondition,
): { readonly uid?: string; readonly resourceVersion?: string } | undefined {
  if ('precondition' in precondition) return undefined;
  const { uid, resourceVersion } = precondition;
  if (!uid && !resourceVersion) {
    const message =
      `A delete of ${describeObject(ref, target)} with an empty precondition would delete ` +
      'whatever has that name: give the uid that was read.';
    throw new Failure('INTERNAL_BUG', message);
  }
  return { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) };
}
