// When the pods of the model are ready, and how long a learner takes.

/** Ticks until a learner has what the others have. */
export const CATCH_UP_TICKS = 2;

/** As the kubelet writes it into the status of a pod. */
export const ready = { conditions: [{ type: 'Ready', status: 'True' }] };
export const unready = { status: { conditions: [{ type: 'Ready', status: 'False' }] } };
