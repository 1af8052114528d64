// Those who made a NATS that is taken over.
import type { LegacyReference } from '../../../../shared/api/takeover.ts';
import { CHART } from './chart.ts';
import type { NatsMaker } from './maker.ts';
import { OPERATOR } from './operator.ts';

/** The definition of a Takeover takes no other kind of a NATS. */
export const makerOf = ({ kind }: Pick<LegacyReference, 'kind'>): NatsMaker =>
  kind === 'StatefulSet' ? CHART : OPERATOR;
