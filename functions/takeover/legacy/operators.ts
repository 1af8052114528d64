// The etcd operators whose clusters are taken over.
import type { LegacyReference } from '../../../shared/api/takeover.ts';
import { apiVersionOf } from '../../../shared/kube/objects.ts';
import { AENIX } from './aenix.ts';
import { COREOS } from './coreos.ts';
import { IMPROBABLE } from './improbable.ts';
import type { EtcdOperator } from './operator.ts';

const OPERATORS: readonly EtcdOperator[] = [COREOS, AENIX, IMPROBABLE];

/** The definition of a Takeover takes no other apiVersion. */
export const operatorOf = ({ apiVersion }: Pick<LegacyReference, 'apiVersion'>): EtcdOperator =>
  OPERATORS.find(({ ref }) => apiVersionOf(ref) === apiVersion) ?? COREOS;
