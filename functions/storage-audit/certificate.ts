// Whether the proof of a StorageMigration still holds: whether anything can have been stored in
// another version since. Pure. A doubt is a reason against it.
import type {
  Proof,
  StorageMigrationSpec,
  StorageMigrationStatus,
} from '../../shared/api/storage-migration.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import type { Definition } from '../../shared/stored/crd.ts';

/** The present state of a kind, against which a proof is checked. */
export interface Present extends Definition {
  readonly uid: string;
  readonly generation: number;
  readonly kind: string;
  readonly storageVersion: string;
  /** From a list that was just read. */
  readonly resourceVersion: string;
}

export interface Certificate {
  /** The name of the StorageMigration. */
  readonly migration: string;
  readonly at: string;
  readonly resourceVersion: string;
  readonly objects: number;
  readonly oracle: Proof['oracle'];
}

export type Judged = { readonly certificate: Certificate } | { readonly why: string };

export function specOf(migration: KubeObject): StorageMigrationSpec {
  // The API server holds them to their schema.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return migration['spec'] as StorageMigrationSpec;
}

/** All that can be told of it from the objects; what each API server stores is asked besides. */
export function judge(migration: KubeObject, present: Present): Judged {
  const { name } = migration.metadata;
  // As above.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const status = (migration['status'] ?? {}) as StorageMigrationStatus;
  const { proof, phase = 'Pending' } = status;
  if (proof === undefined) return { why: `StorageMigration ${name} (${phase}) has no proof` };
  const objection = objectionTo(status, proof, present);
  if (objection !== undefined) {
    return { why: `the proof of StorageMigration ${name} does not count, because ${objection}` };
  }
  const { at, resourceVersion, objects, oracle } = proof;
  return { certificate: { migration: name, at, resourceVersion, objects, oracle } };
}

function objectionTo(
  { target, storedVersions: known = [] }: StorageMigrationStatus,
  proof: Proof,
  { uid, generation, storageVersion, storedVersions, resourceVersion }: Present,
): string | undefined {
  // All objects went with the one that was proved.
  if (target?.crdUid !== uid) return 'the CRD is another one of the same name';
  // Another version may have been the stored one for a while, and the list may have been set back.
  if (proof.crdGeneration !== generation) {
    const now = `its generation is ${generation}, and was ${proof.crdGeneration}`;
    return `the CRD was changed since: ${now}`;
  }
  if (proof.version !== storageVersion) return `it is of ${proof.version}`;
  const news = storedVersions.filter((one) => one !== proof.version && !known.includes(one));
  if (news.length > 0) {
    const listed = `status.storedVersions lists ${news.join(', ')} since`;
    return `${listed}, so that somebody may have stored it`;
  }
  // After etcd was restored to an older state, the proof is about objects that are no longer there.
  if (!isAsFar(resourceVersion, proof.resourceVersion)) {
    return (
      `the API server is at resourceVersion ${resourceVersion}, before that of the proof, ` +
      `${proof.resourceVersion}: an etcd of another time`
    );
  }
  return undefined;
}

function isAsFar(now: string, then: string): boolean {
  const [one, other] = [now, then].map((text) => (/^\d+$/.test(text) ? BigInt(text) : undefined));
  return one !== undefined && other !== undefined && one >= other;
}

/** A sentence for each version that may go. */
export function removableVersions(
  { migration, at, resourceVersion, objects }: Certificate,
  { versions, storedVersions, storageVersion }: Present,
): readonly string[] {
  const names = new Set([...versions.map(({ name }) => name), ...storedVersions]);
  names.delete(storageVersion);
  return [...names].map((version) => {
    const isInSpec = versions.some(({ name }) => name === version);
    const verdict = isInSpec ? 'may be removed' : 'is gone from the CRD, and that was right';
    const first = storedVersions.includes(version)
      ? '; trim status.storedVersions, which lists it, first'
      : '';
    return (
      `${version} ${verdict}, because StorageMigration ${migration} ` +
      `proved it at ${at}, resourceVersion ${resourceVersion}: all ${objects} objects were ` +
      `stored as ${storageVersion}, and every API server has stored that since${first}.`
    );
  });
}
