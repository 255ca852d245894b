/** What a simulated process does: how long it takes, what it says, how it ends. */
export interface Plan {
  /** Infinity: runs until it is stopped. */
  readonly seconds: number
  readonly exitCode: number
  readonly stdout: string
  /** false: no such program. */
  readonly known: boolean
}

/** Longer than this (24 days) no timer of Node can be set: it is for ever. */
const maxSeconds = 2_147_483

const forever: Plan = { seconds: Number.POSITIVE_INFINITY, exitCode: 0, stdout: '', known: true }

/**
 * What a command line would do, as far as the simulator knows programs: `sleep`, `echo`, `true`, `false`, `exit`, the
 * test image's `work` (sleep S [CODE], exit CODE, forever), programs that run for ever (`pause`, `top`, no command at
 * all), and `sh -c` with these joined by `;`, `&&` and `||`.
 */
export function planOf(argv: readonly string[]): Plan {
  const [program, ...args] = argv
  if (program === undefined) return forever
  const name = program.slice(program.lastIndexOf('/') + 1)
  switch (name) {
    case 'sh':
    case 'bash':
    case 'ash':
      return args[0] === '-c' && args[1] !== undefined ? scriptPlan(args[1]) : forever
    case 'work':
      return planOf(args[0] === 'forever' ? ['pause'] : args)
    case 'pause':
    case 'top':
      return forever
    case 'sleep':
      return { ...forever, seconds: seconds(args[0]), exitCode: code(args[1]) }
    case 'exit':
      return { ...forever, seconds: 0, exitCode: code(args[0]) }
    case 'true':
      return { ...forever, seconds: 0 }
    case 'false':
      return { ...forever, seconds: 0, exitCode: 1 }
    case 'echo':
      return { ...forever, seconds: 0, stdout: args[0] === '-n' ? args.slice(1).join(' ') : `${args.join(' ')}\n` }
    case 'pgrep':
      // An exec's process ends with its call, so there is never one to find.
      return { ...forever, seconds: 0, exitCode: 1 }
    default:
      return { ...forever, known: false }
  }
}

function scriptPlan(script: string): Plan {
  let total: Plan = { seconds: 0, exitCode: 0, stdout: '', known: true }
  let joint = ';'
  for (const part of script.split(/(;|&&|\|\||\n)/)) {
    const words = part.trim().split(/\s+/)
    if (/^(;|&&|\|\||)$/.test(part.trim())) {
      joint = part.trim() || joint
      continue
    }
    if ((joint === '&&' && total.exitCode !== 0) || (joint === '||' && total.exitCode === 0)) continue
    const step = planOf(words.map((word) => word.replace(/^(['"])(.*)\1$/, '$2')))
    total = {
      seconds: total.seconds + step.seconds,
      exitCode: step.exitCode,
      stdout: total.stdout + step.stdout,
      known: total.known && step.known,
    }
    if (words[0] === 'exit' || step.seconds === Number.POSITIVE_INFINITY) break
  }
  return total
}

function seconds(text: string | undefined): number {
  const value = Number(text)
  return text !== undefined && value >= 0 && value <= maxSeconds ? value : Number.POSITIVE_INFINITY
}

function code(text: string | undefined): number {
  return Number(text ?? 0) & 255
}
