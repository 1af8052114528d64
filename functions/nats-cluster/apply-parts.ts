// Plans the parts of a cluster: makes them in their order, and applies again those that differ from
// how they are rendered. An edit that a running server would not survive is refused before. A
// changed pod template restarts no pod; roll.ts does that. Pure.
import type { Reason } from '../../shared/kube/conditions.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';
import { storageIn } from '../../shared/stateful/claim-template.ts';
import { waitFor } from '../../shared/stateful/decision.ts';
import type { FoundPart } from '../../shared/stateful/parts.ts';
import { awaitAccounts, refuseAccounts } from './accounts.ts';
import type { Decision } from './decision.ts';
import { grow } from './growth.ts';
import type { PartKey, RenderedPart } from './render/manifests.ts';
import type { State } from './state.ts';
import { refuseDowngrade } from './version.ts';

export function applyParts(state: State): Decision | undefined {
  const { toMake, lacking, rendered } = state.parts;
  if (toMake !== undefined) {
    const { manifest, why } = toMake;
    const next = `${why} Secret ${manifest.metadata.name}`;
    return { step: { type: 'make-secret', secret: toMake }, next };
  }
  if (lacking !== undefined) {
    const told = withDeadline(state, lacking);
    return waitFor('Write the configuration', [told], told);
  }
  // Only missing together with one of the two.
  if (rendered === undefined) return undefined;
  const refused = refuseDowngrade(state) ?? refuseAccounts(state) ?? refuseMode(state);
  return (refused && holdUp(state, refused)) ?? grow(state) ?? applyNext(state);
}

function holdUp(state: State, refused: Decision): Decision {
  const { next, trouble } = refused;
  if (trouble === undefined) return refused;
  const told = withDeadline(state, trouble);
  return waitFor(next, [told], told);
}

/** Certificates are renewed a month before they end; what is later than that is no news. */
const DEADLINE_WITHIN_MS = 30 * 86_400_000;

/** A refusal holds up all that comes after it, and so renewed certificates too. */
function withDeadline({ nowMs, parts: { servedUntilMs } }: State, refusal: Reason): Reason {
  if (servedUntilMs === undefined || servedUntilMs - nowMs > DEADLINE_WITHIN_MS) return refusal;
  const message =
    `${refusal.message} Renewed certificates wait for it: those of the servers end at ` +
    `${timestamp(servedUntilMs)}.`;
  return { ...refusal, message };
}

/** Claims outlive their NatsCluster; a new one cannot have what its claims do not. */
function refuseMode({ cluster, parts: { claims, found }, pods }: State): Decision | undefined {
  const wanted = cluster.spec.jetStream.fileStorage?.accessMode;
  // A cluster that runs already keeps its access mode, whatever somebody did to its claims.
  if (wanted === undefined || found.has('statefulSet') || pods.length > 0) return undefined;
  const claim = claims.find(({ accessMode }) => accessMode !== wanted);
  if (claim === undefined) return undefined;
  const message =
    `Claim ${claim.name} is there already, has ${claim.accessMode} and keeps it; create the ` +
    'NatsCluster without accessMode, or delete the claim and what it holds.';
  const blocker = { reason: 'AccessModeKept', message };
  return waitFor(`Create StatefulSet ${cluster.name}`, [blocker], blocker);
}

/** All else is done before it is told. */
export function reportRefusedPolicy({
  cluster,
  parts: { policyRefusal },
}: State): Decision | undefined {
  if (policyRefusal === undefined) return undefined;
  return waitFor(`Create NetworkPolicy ${cluster.name}`, [policyRefusal], policyRefusal);
}

function applyNext(state: State): Decision | undefined {
  const { wrong, found } = state.parts;
  const isHeld = awaitAccounts(state) !== undefined;
  const part = wrong.find(({ key }) => !isHeld || !OF_SERVERS.includes(key));
  if (part === undefined) return undefined;
  const { kind, metadata } = part.manifest;
  const isThere = found.has(part.key);
  const next = `${isThere ? 'Update' : 'Create'} ${kind} ${metadata.name}`;
  const present = found.get(part.key);
  if (part.key === 'statefulSet' && present !== undefined && differsInClaims(part, present)) {
    const { uid, resourceVersion } = present;
    const orphan = `Create StatefulSet ${metadata.name} anew around its pods`;
    return { step: { type: 'orphan', uid, resourceVersion }, next: orphan };
  }
  return { step: { type: 'apply', part }, next };
}

/** Servers read their accounts from these, so both wait while an account must not go. */
const OF_SERVERS: readonly PartKey[] = ['config', 'statefulSet'];

/** The one change of ours that a StatefulSet does not take. */
const differsInClaims = ({ manifest }: RenderedPart, present: FoundPart): boolean =>
  storageIn(manifest) !== present.storage;
