// The plan of a takeover: what speaks against it, what to know of it, its objects and its steps,
// and an id that is another one when anything changed that the plan is about. Pure.
import type { TakeoverPlan } from '../../shared/api/takeover.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { hashOf } from '../../shared/hash.ts';
import { joined } from '../../shared/stateful/decision.ts';
import { claimsGo, refuseUncounted } from './claims-go.ts';
import { isQuorate } from './frozen.ts';
import { joins } from './join/mode.ts';
import { madeToJoin, stepsToJoin } from './join/planned.ts';
import { refuseJoin } from './join/refuse.ts';
import { notesOf } from './notes.ts';
import type { Takeover } from './object.ts';
import { madeToRestore, plannedObjects } from './planned-objects.ts';
import { plannedSteps } from './planned-steps.ts';
import { orLead, refuseMissing, refuseNames, refuseOthers } from './refuse-found.ts';
import {
  refuseItsOperator,
  refuseItsServices,
  refuseItsWays,
  refuseMembers,
} from './refuse-legacy.ts';
import { refuseSecrets } from './refuse-secrets.ts';
import { refuseCertificates, refuseTarget } from './refuse-target.ts';
import type { Asked, State } from './state.ts';
import { wipes } from './wipe/mode.ts';
import { madeToWipe, stepsToWipe } from './wipe/planned.ts';
import { refuseEmptyTarget, refuseFilled, refuseUncertified, refuseUnsaid } from './wipe/refuse.ts';

const ID_LENGTH = 12;

const LAST_CHANCE =
  'its pods and claims go with it. Back up a member that still answers now: npm run backup.';

type Refuse = (state: State) => readonly Reason[];

const missing: Refuse = (state) => refuseMissing(state, LAST_CHANCE);

/** In the order in which people would look into them. */
const REFUSALS: readonly Refuse[] = [
  missing,
  refuseOthers,
  refuseSecrets,
  refuseMembers,
  refuseItsServices,
  claimsGo,
  refuseItsWays,
  refuseItsOperator,
  refuseNames,
  refuseTarget,
  refuseCertificates,
  refuseJoin,
];

/** Whether members answer, and what they would say, does not matter. */
const REFUSALS_TO_WIPE: readonly Refuse[] = [
  missing,
  refuseUnsaid,
  refuseOthers,
  refuseUncounted,
  refuseItsServices,
  claimsGo,
  refuseItsWays,
  refuseItsOperator,
  refuseFilled,
  refuseEmptyTarget,
  refuseUncertified,
];

export function planOf(state: State): TakeoverPlan {
  const all = wipes(state) ? REFUSALS_TO_WIPE : REFUSALS;
  const refusals = orLead(
    state,
    all.flatMap((refuse) => refuse(state)),
  );
  const rest = {
    objects: plannedObjects(state, madeIn(state)),
    steps: stepsOf(state),
    refusals,
    notes: notesOf(state),
  };
  // Where nobody asked the members nobody knows what the plan is about.
  return proposed(state, rest, state.members === undefined ? undefined : idOf(state));
}

const madeIn = (state: State) =>
  joins(state) ? madeToJoin : wipes(state) ? madeToWipe : madeToRestore;

function stepsOf(state: State): TakeoverPlan['steps'] {
  if (joins(state)) return stepsToJoin(state);
  return wipes(state) ? stepsToWipe(state) : plannedSteps(state);
}

/** `id`: undefined where members or servers were not asked. */
export function proposed(
  { takeover }: Pick<State, 'takeover'>,
  rest: Pick<TakeoverPlan, 'objects' | 'steps' | 'refusals' | 'notes'>,
  id: string | undefined,
): TakeoverPlan {
  const { refusals } = rest;
  if (refusals.length > 0) {
    return { next: 'Plan it anew', waitsFor: joined(refusals), ...rest };
  }
  if (id === undefined) return { next: 'Nothing', waitsFor: UNASKED, ...rest };
  const { confirm } = takeover.spec;
  if (confirm === id) return { id, next: 'Begin', ...rest };
  const waitsFor =
    confirm === undefined
      ? `It is carried out once spec.confirm is ${id}.`
      : `spec.confirm is ${confirm}, and since then something changed: read the plan again, and ` +
        `write ${id} if it is right.`;
  return { id, next: 'Nothing', waitsFor, ...rest };
}

const UNASKED = 'Members or servers were not asked from here.';

/**
 * Revisions and sizes grow all the time, and no plan depends on them. Versions that change with
 * every status are left out.
 */
function idOf({ takeover, legacy, secrets, target, members, ...state }: State): string {
  const { client, headless, pods, claims, operators, statefulSet, peers } = state;
  const about = {
    legacy: legacy && lasting(legacy),
    target: target.spec,
    secrets: [...secrets].map(([name, secret]) => [
      name,
      secret.is === 'found' ? secret.resourceVersion : secret.is,
    ]),
    members: [...(members ?? [])].map(([pod, asked]) => [pod, identityOf(asked)]),
    // Once they could be asked for their data a person has to say again that nobody needs it.
    ...(wipes({ takeover }) ? { isQuorate: isQuorate({ members }) } : {}),
    world: {
      client: client && lasting(client),
      headless: headless && lasting(headless),
      pods: pods.map((one) => ({ ...one, isStarting: undefined })),
      ...(statefulSet === undefined ? {} : { statefulSet }),
      ...(peers.length === 0 ? {} : { peers: peers.map((one) => lasting(one)) }),
      claims: claims.map((one) => lasting(one)),
      operators: operators.map((one) => lasting(one)),
    },
  };
  return idFor(takeover, about);
}

/** Words of a person on the plan are left out. */
export function idFor({ uid, name, spec: said }: Takeover, about: object): string {
  const { confirm: _, rollback: __, wipe: ___, ...spec } = said;
  return `${name}-${hashOf({ uid, spec, ...about }).slice(0, ID_LENGTH)}`;
}

export const lasting = (found: { readonly resourceVersion: string }): object => ({
  ...found,
  resourceVersion: undefined,
  running: undefined,
  endsAtMs: undefined,
});

function identityOf(asked: Asked): unknown {
  if ('silent' in asked) return 'silent';
  const { header, version } = asked.status;
  const known = asked.members.map(({ id }) => id).toSorted();
  return { cluster: header.clusterId, member: header.memberId, version, known };
}
