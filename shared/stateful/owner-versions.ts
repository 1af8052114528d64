// Owner references of parts name their owner in the version in which the API server stores it. The
// garbage collector finds no owner by a version that is not served any more, and the stored one is
// the last to go, whichever way a release goes. Each look ends by bringing what it has read to it.
import type { Clock } from '../clock.ts';
import type { KubeClient } from '../kube/client.ts';
import { isKubeError } from '../kube/errors.ts';
import {
  apiVersionOf,
  type KubeObject,
  type Manifest,
  type NamelessManifest,
  type ObjectName,
  type OwnerReference,
  type ResourceRef,
} from '../kube/objects.ts';
import { announcedVersion } from '../kube/storage-version.ts';

/** In one look: the others are read again by the next. */
const RENEWED_MAX = 8;
/** For the next step of a release people wait, who prove first that all references followed. */
const FRESH_MS = 600_000;
/** Admission that asks for the right to delete what gets other owners does so for long. */
const REFUSED_MS = 3_600_000;
/** Looks that end in a step leave what they have read to the next one, or for good. */
const OWNERS_MAX = 1_000;
const REFUSED_MAX = 10_000;

/** Where a part is: of its content nothing is kept. */
interface Place {
  readonly ref: ResourceRef;
  readonly target: ObjectName;
}

interface AskDeps {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

export class OwnerVersions {
  readonly #owner: ResourceRef;
  /** Parts that may name another version, by the uid of their owner and by their own. */
  readonly #stale = new Map<string, Map<string, Place>>();
  /** Parts of which it was refused, by their uid: the others do not wait for them. */
  readonly #refused = new Set<string>();
  #refusedUntilMs = 0;
  /** Undefined where discovery does not say it. */
  #stored: string | undefined;
  #freshUntilMs = -Infinity;

  /** `owner` is the kind whose parts they are, in any version. */
  constructor(owner: ResourceRef) {
    this.#owner = owner;
  }

  /** Takes whatever the function has read. */
  note(ref: ResourceRef, { metadata }: KubeObject): void {
    const { name, namespace, uid, ownerReferences = [], deletionTimestamp } = metadata;
    const owner = ownerReferences.find((one) => this.#isStale(one));
    if (owner === undefined || deletionTimestamp !== undefined || this.#refused.has(uid)) return;
    makeRoom(this.#stale, OWNERS_MAX);
    const parts = this.#stale.get(owner.uid) ?? new Map<string, Place>();
    if (parts.size >= RENEWED_MAX) return;
    const target = { name, ...(namespace === undefined ? {} : { namespace }) };
    this.#stale.set(owner.uid, parts.set(uid, { ref, target }));
  }

  /**
   * The same part, which names its owner in the version that is stored. One that is there, with
   * `ref`, names it as before: who may not change owners has to be able to change the rest.
   */
  async named<Any extends Manifest | NamelessManifest>(
    deps: AskDeps,
    part: Any,
    ref?: ResourceRef,
  ): Promise<Any> {
    const { name, namespace, ownerReferences: owners } = part.metadata;
    if (!Array.isArray(owners)) return part;
    if (deps.clock.nowMs() >= this.#freshUntilMs) await this.#ask(deps);
    const target = { name: name ?? '', ...(namespace === undefined ? {} : { namespace }) };
    const how = { metadataOnly: true, signal: deps.signal };
    const there = ref === undefined ? null : await deps.kube.get(ref, target, how);
    const before = there?.metadata.ownerReferences ?? [];
    const ownerReferences = owners.map((one: OwnerReference) => {
      const was = before.find((owner) => owner.uid === one.uid && this.#isOfGroup(owner));
      return was === undefined ? this.#inStored(one) : { ...one, apiVersion: was.apiVersion };
    });
    return { ...part, metadata: { ...part.metadata, ownerReferences } };
  }

  /** Returns the names of the parts of this owner whose references were written. */
  async renew(deps: AskDeps, uid: string, signal: AbortSignal): Promise<readonly string[]> {
    const nowMs = deps.clock.nowMs();
    const places = [...(this.#stale.get(uid) ?? [])];
    if (nowMs >= this.#refusedUntilMs) this.#refused.clear();
    // Discovery is asked just before, so that two who asked at other times do not take turns.
    if (places.length > 0 || nowMs >= this.#freshUntilMs) await this.#ask({ ...deps, signal });
    const renewed: string[] = [];
    for (const [partUid, place] of places) {
      try {
        const isRenewed = await this.#renewOne(deps.kube, place, uid, signal);
        if (isRenewed) renewed.push(place.target.name);
      } catch (error) {
        if (!isKubeError(error, 'KUBE_FORBIDDEN', 'KUBE_INVALID')) throw error;
        makeRoom(this.#refused, REFUSED_MAX);
        if (this.#refused.size === 0) this.#refusedUntilMs = nowMs + REFUSED_MS;
        this.#refused.add(partUid);
      }
    }
    // The parts were read once more, and so noted.
    this.#stale.delete(uid);
    return renewed;
  }

  async #ask({ kube, clock, signal }: AskDeps): Promise<void> {
    this.#stored = await announcedVersion(kube, this.#owner, { signal });
    this.#freshUntilMs = clock.nowMs() + FRESH_MS;
  }

  #inStored(owner: OwnerReference): OwnerReference {
    if (this.#stored === undefined || !this.#isStale(owner)) return owner;
    return { ...owner, apiVersion: apiVersionOf({ ...this.#owner, version: this.#stored }) };
  }

  /** Also before it is known what is stored. */
  #isStale(owner: OwnerReference): boolean {
    const stored = this.#stored && apiVersionOf({ ...this.#owner, version: this.#stored });
    return this.#isOfGroup(owner) && owner.apiVersion !== stored;
  }

  #isOfGroup({ apiVersion }: OwnerReference): boolean {
    return apiVersion.startsWith(`${this.#owner.group}/`);
  }

  /** False where nothing is to be done, or somebody else was first. */
  async #renewOne(
    kube: KubeClient,
    { ref, target }: Place,
    uid: string,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (this.#stored === undefined) return false;
    const found = await kube.get(ref, target, { metadataOnly: true, signal });
    const { resourceVersion, ownerReferences: owners = [] } = found?.metadata ?? {};
    const isIt = (one: OwnerReference): boolean => one.uid === uid && this.#isStale(one);
    if (!owners.some(isIt)) return false;
    const ownerReferences = owners.map((one) => (isIt(one) ? this.#inStored(one) : one));
    const body = { metadata: { resourceVersion, ownerReferences } };
    try {
      await kube.patch(ref, target, { type: 'merge', body }, { signal });
      return true;
    } catch (error) {
      if (isKubeError(error, 'KUBE_CONFLICT', 'KUBE_NOT_FOUND')) return false;
      throw error;
    }
  }
}

function makeRoom(all: Pick<Set<string>, 'size' | 'clear'>, max: number): void {
  if (all.size >= max) all.clear();
}
