// Conditions as the account of dead-letters could write them in the wrong hands: each with the
// answer of the admission policy.
const at = '2026-11-22T12:00:00Z';
const condition = (type: string, status: string, reason = 'Whole') => ({
  type,
  status,
  reason,
  message: 'As its function said.',
  lastTransitionTime: at,
});
export const PROVED = condition('Proved', 'True');
export const DEGRADED = condition('Degraded', 'False');
export const SAID = [condition('Ready', 'True'), DEGRADED, PROVED];
export const UNKNOWN = condition('Ready', 'Unknown', 'NotSwept');

export const FORGED_CONDITIONS: readonly (readonly [
  attempted: string,
  status: object,
  why: string,
])[] = [
  [
    'turns False into True',
    { conditions: [condition('Ready', 'True'), condition('Degraded', 'True'), PROVED] },
    'changes no condition otherwise',
  ],
  [
    'says False of what is True',
    { conditions: [condition('Ready', 'False', 'NotSwept'), DEGRADED, PROVED] },
    'changes no condition otherwise',
  ],
  [
    'gives a reason of its own',
    { conditions: [condition('Ready', 'Unknown', 'Attacked'), DEGRADED, PROVED] },
    'changes no condition otherwise',
  ],
  [
    'takes a proof back',
    {
      conditions: [
        condition('Ready', 'True'),
        DEGRADED,
        condition('Proved', 'Unknown', 'NotSwept'),
      ],
    },
    'changes no condition otherwise',
  ],
  [
    'writes a long story',
    { conditions: [{ ...UNKNOWN, message: 'x'.repeat(1_025) }, DEGRADED, PROVED] },
    'changes no condition otherwise',
  ],
  [
    'says the same in other words',
    { conditions: [{ ...condition('Ready', 'True'), message: 'Mine.' }, DEGRADED, PROVED] },
    'changes no condition otherwise',
  ],
  [
    'takes a condition away',
    { conditions: [condition('Ready', 'True'), DEGRADED] },
    'makes no condition and takes none away',
  ],
  [
    'makes one',
    { conditions: [...SAID, condition('InSync', 'Unknown', 'NotSwept')] },
    'makes no condition and takes none away',
  ],
  ['changes what else is said', { observedGeneration: 7 }, 'nothing of a status but conditions'],
  ['forgets what else is said', { observedGeneration: null }, 'nothing of a status but conditions'],
];
