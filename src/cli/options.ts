import { InvalidArgumentError, Option } from '@commander-js/extra-typings'
import { parseBytes } from '../config/units.js'
import { parseGoDuration } from '../model/duration.js'
import { messageOf } from '../model/errors.js'

/** Makes commander name the option when `parse` refuses its value. */
export function argument<T>(parse: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return parse(text)
    } catch (error) {
      throw new InvalidArgumentError(messageOf(error))
    }
  }
}

/** Milliseconds, at least `minMs`. */
export const durationArgument = (minMs = 0) =>
  argument((text) => {
    const ms = parseGoDuration(text)
    if (ms < minMs)
      throw new InvalidArgumentError(minMs > 0 && ms >= 0 ? `${text} is too short` : `${text} is negative`)
    return ms
  })

export const bytesArgument = argument(parseBytes)

export const integerArgument = (min: number, max: number) =>
  argument((text) => {
    const value = Number(text)
    if (!/^-?\d+$/.test(text) || value < min || value > max) {
      throw new InvalidArgumentError(`expected a whole number from ${min} to ${max}`)
    }
    return value
  })

export const endpointOption = () =>
  new Option(
    '-r, --runtime-endpoint <endpoint>',
    'CRI endpoint: unix:///run/containerd/containerd.sock, a bare path, or host:port',
  )

export const transportOption = () =>
  new Option('--transport <name>', 'how to speak to the runtime (default: h2 on unix sockets)').choices([
    'h2',
    'grpc',
  ] as const)

export const requestTimeoutOption = () =>
  new Option('--runtime-request-timeout <duration>', 'deadline of every CRI call (default: 2m0s)').argParser(
    durationArgument(1),
  )
