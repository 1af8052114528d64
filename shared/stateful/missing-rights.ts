// Finds rights that a function lacks: they are granted by namespace, and a namespace may have been
// forgotten. Pure.
import type { Reason } from '../kube/conditions.ts';
import { isKubeError } from '../kube/errors.ts';
import { isOfRbac } from '../kube/rbac.ts';
import type { Owner } from './parts.ts';

/** The object that is not looked after, and the function that lacks the rights. */
export interface LookedAfter extends Pick<Owner, 'kind' | 'namespace' | 'name'> {
  readonly functionName: string;
  /** A sentence on how it is meanwhile; its servers go on when absent. */
  readonly unattended?: string | undefined;
}

const SERVERS_GO_ON = 'Its servers go on, and nobody looks after them.';

/** The NetworkPolicy's refusal and its time: it is tried again after a while. */
export interface PolicyRefusal {
  readonly reason: Reason;
  readonly atMs: number;
}

/** A refused NetworkPolicy is tried again after so long. */
const POLICY_AGAIN_MS = 300_000;

/** Undefined when it was not refused, or when it is to be tried again. */
export const freshRefusal = (
  refusal: PolicyRefusal | undefined,
  nowMs: number,
): Reason | undefined =>
  refusal !== undefined && nowMs - refusal.atMs < POLICY_AGAIN_MS ? refusal.reason : undefined;

export const isPolicy = (step: {
  readonly type: string;
  readonly part?: { readonly key: string };
}): boolean => step.type === 'apply' && step.part?.key === 'networkPolicy';

/** Undefined for any other failure. */
export function rightsMissing(
  { kind, namespace, name, functionName, unattended = SERVERS_GO_ON }: LookedAfter,
  error: unknown,
): Reason | undefined {
  if (!isKubeError(error, 'KUBE_FORBIDDEN')) return undefined;
  const { message = '' } = error.answer ?? {};
  if (!isOfRbac(message)) return undefined;
  return {
    reason: 'RightsMissing',
    message:
      `The function may not look after ${kind} ${namespace}/${name} (${message}). ` +
      `${unattended} Grant it its rights there: ${commandFor(functionName, namespace)}`,
  };
}

/**
 * Servers run without a NetworkPolicy, so a refused one stops nothing else. It is refused where the
 * rights are older than it, or where somebody allows none. `exposed` names the pages and ports that
 * are open without it. Undefined for any other failure.
 */
export function policyRefusalOf(
  { namespace, name, functionName, exposed }: LookedAfter & { readonly exposed: string },
  error: unknown,
): Reason | undefined {
  if (!isKubeError(error, 'KUBE_FORBIDDEN', 'KUBE_INVALID')) return undefined;
  const { message = error.message } = error.answer ?? {};
  const command = commandFor(functionName, namespace);
  const { reason, wish } = isOfRbac(message)
    ? { reason: 'RightsMissing', wish: `Grant it its rights there: ${command}` }
    : { reason: 'NetworkPolicyRefused', wish: 'Let it be made' };
  return {
    reason,
    message:
      `NetworkPolicy ${namespace}/${name} cannot be made (${message}). All else goes on, and ` +
      `whoever is in the network reaches ${exposed} of the servers. ` +
      `${wish}, or set spec.networkPolicy to None.`,
  };
}

const commandFor = (functionName: string, namespace: string): string =>
  `npm run -s rights -- ${functionName} -n ${namespace} | kubectl apply -f -`;
