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

/** The kind whose parts they are, in any version. */
export interface OwnerKind extends ResourceRef {
  readonly kind: string;
}

/** A part as it was read, as far as it takes to write its owners. */
interface Part {
  readonly ref: ResourceRef;
  readonly target: ObjectName;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly owners: readonly OwnerReference[];
}

type Owned = Manifest | NamelessManifest;
type Place = Pick<Owned['metadata'], 'name' | 'namespace'>;

interface AskDeps {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

export class OwnerVersions {
  readonly #owner: OwnerKind;
  /** Parts that may name another version, by the uid of their owner and by their own. */
  readonly #stale = new Map<string, Map<string, Part>>();
  /** Parts of which it was refused, by their uid: the others do not wait for them. */
  readonly #refused = new Set<string>();
  #refusedUntilMs = 0;
  /** An apiVersion; undefined until it was asked, and where discovery does not say it. */
  #stored: string | undefined;
  /** No part can name another one. */
  #isOnly = false;
  #freshUntilMs = -Infinity;

  constructor(owner: OwnerKind) {
    this.#owner = owner;
  }

  /** Takes whatever the function has read. */
  note(ref: ResourceRef, { metadata }: KubeObject): void {
    const { uid, resourceVersion, deletionTimestamp, ownerReferences: owners = [] } = metadata;
    if (deletionTimestamp !== undefined || this.#refused.has(uid)) return;
    const part = { ref, target: targetOf(metadata), uid, resourceVersion, owners };
    for (const owner of owners.filter((one) => this.#mayBeStale(one))) {
      const parts = this.#stale.get(owner.uid) ?? new Map<string, Part>();
      if (parts.size >= RENEWED_MAX && !parts.has(uid)) continue;
      makeRoom(this.#stale, OWNERS_MAX);
      this.#stale.set(owner.uid, parts.set(uid, part));
    }
  }

  /**
   * The same part, which names its owner in the version that is stored. One that is there, with
   * `ref`, names it as before: who may not change owners has to be able to change the rest.
   */
  async named<Any extends Owned>(deps: AskDeps, part: Any, ref?: ResourceRef): Promise<Any> {
    const { ownerReferences: owners } = part.metadata;
    if (!Array.isArray(owners)) return part;
    if (deps.clock.nowMs() >= this.#freshUntilMs) await this.#ask(deps);
    const there = ref && !this.#isOnly ? await this.#read(deps, ref, part) : null;
    const ownerReferences = owners.map((one: OwnerReference) => {
      const isIt = (was: OwnerReference): boolean => was.uid === one.uid && this.#isOfKind(was);
      const apiVersion = there?.metadata.ownerReferences?.find(isIt)?.apiVersion;
      return apiVersion === undefined ? this.#inStored(one) : { ...one, apiVersion };
    });
    return { ...part, metadata: { ...part.metadata, ownerReferences } };
  }

  #read(
    { kube, signal }: AskDeps,
    ref: ResourceRef,
    { metadata }: Owned,
  ): Promise<KubeObject | null> {
    return kube.get(ref, targetOf(metadata), { metadataOnly: true, signal });
  }

  /** Returns the names of the parts of this owner whose references were written. */
  async renew(deps: AskDeps, uid: string): Promise<readonly string[]> {
    const nowMs = deps.clock.nowMs();
    const noted = [...(this.#stale.get(uid)?.values() ?? [])];
    if (nowMs >= this.#refusedUntilMs) this.#refused.clear();
    // Discovery is asked just before, so that two who asked at other times do not take turns.
    if (noted.length > 0 || nowMs >= this.#freshUntilMs) await this.#ask(deps);
    const renewed: string[] = [];
    for (const part of noted) {
      // Parts that were read before the first question may name it already.
      if (!part.owners.some((one) => this.#mayBeStale(one))) continue;
      if (await this.#renewOne(deps, part, nowMs)) renewed.push(part.target.name);
    }
    this.#stale.delete(uid);
    return renewed;
  }

  async #ask({ kube, clock, signal }: AskDeps): Promise<void> {
    const found = await announcedVersion(kube, this.#owner, { signal });
    this.#stored = found && apiVersionOf({ ...this.#owner, version: found.version });
    this.#isOnly = found?.isOnly === true;
    this.#freshUntilMs = clock.nowMs() + FRESH_MS;
  }

  #inStored(owner: OwnerReference): OwnerReference {
    if (this.#stored === undefined || !this.#isOfKind(owner)) return owner;
    return { ...owner, apiVersion: this.#stored };
  }

  /** Before the first question anything may be; where the answer says nothing, nothing is. */
  #mayBeStale(owner: OwnerReference): boolean {
    if (!this.#isOfKind(owner)) return false;
    if (this.#freshUntilMs === -Infinity) return true;
    return this.#stored !== undefined && owner.apiVersion !== this.#stored;
  }

  #isOfKind({ apiVersion, kind }: OwnerReference): boolean {
    return kind === this.#owner.kind && apiVersion.startsWith(`${this.#owner.group}/`);
  }

  /** False where it is refused, or somebody else was first. */
  async #renewOne(
    { kube, signal }: AskDeps,
    { ref, target, uid, resourceVersion, owners }: Part,
    nowMs: number,
  ): Promise<boolean> {
    const ownerReferences = owners.map((one) => this.#inStored(one));
    const body = { metadata: { uid, resourceVersion, ownerReferences } };
    const how = { metadataOnly: true, signal };
    try {
      await kube.patch(ref, target, { type: 'merge', body }, how);
      return true;
    } catch (error) {
      if (isKubeError(error, 'KUBE_CONFLICT', 'KUBE_NOT_FOUND')) return false;
      if (!isKubeError(error, 'KUBE_FORBIDDEN', 'KUBE_INVALID')) throw error;
      makeRoom(this.#refused, REFUSED_MAX);
      if (this.#refused.size === 0) this.#refusedUntilMs = nowMs + REFUSED_MS;
      this.#refused.add(uid);
      return false;
    }
  }
}

const targetOf = ({ name = '', namespace }: Place): ObjectName =>
  namespace === undefined ? { name } : { name, namespace };

function makeRoom(all: Pick<Set<string>, 'size' | 'clear'>, max: number): void {
  if (all.size >= max) all.clear();
}
