// The Events by which dead-letters tells what no function took, and console finds them.
import type { ResourceRef } from './objects.ts';

export const EVENTS: ResourceRef = { group: 'events.k8s.io', version: 'v1', resource: 'events' };
export const NOT_DELIVERED = 'EventNotDelivered';
