// What the plugin asks of a page, by name. Whatever is answered is JSON.

const ASKED = {
  snapshot({ cursor, bytes, root }) {
    const found = root ? single(root) : {};
    if (found.problem) return problemOf(root, found);
    return piece(cursor, bytes, () => snapshotOf(found.element || bodyOf()));
  },
  interactable({ cursor, bytes, filter }) {
    return piece(cursor, bytes, () => interactableOf(filter));
  },
  content({ cursor, bytes, format, everything }) {
    return piece(cursor, bytes, () => contentOf(format, everything));
  },
  async ready({ target, needs, milliseconds }) {
    const { element, ...found } = await ready(target, needs, milliseconds);
    return found;
  },
  async details({ target, bytes }) {
    const { element, ...found } = await ready(target, [], 0);
    return element ? detailsOf(element, bytes) : found;
  },
  async upload({ target, milliseconds }) {
    const { element, ...found } = await ready(target, [], milliseconds);
    if (!element) return found;
    return fileInput(element) ? { ...found, multiple: fileInput(element).multiple } : { problem: 'no-file', ...brief(element), inputs: fileInputs() };
  },
  area({ target }) {
    const { element, ...problem } = single(target);
    if (!element) return problemOf(target, problem);
    if (!isVisible(element)) return { problem: 'hidden', ...brief(element) };
    if (!isWithin(element)) element.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
    const [area, offset] = [element.getBoundingClientRect(), offsetOf(element)];
    const [x, y] = [Math.max(area.x + offset.x, 0), Math.max(area.y + offset.y, 0)];
    const right = Math.min(area.right + offset.x, innerWidth);
    const bottom = Math.min(area.bottom + offset.y, innerHeight);
    return { ...brief(element), x, y, width: Math.max(right - x, 1), height: Math.max(bottom - y, 1) };
  },
  fill({ target, value, types }) {
    return acting(target, (element) => prepareFill(element, value, types));
  },
  filled({ target, value }) {
    return acting(target, (element) => confirmFill(element, value));
  },
  choose({ target, values }) {
    return acting(target, (element) => ({ ...brief(element), ...choose(element, values) }));
  },
  caret({ target }) {
    return acting(target, prepareType);
  },
  focus({ target }) {
    return acting(target, (element) => {
      focusOn(element);
      return brief(element);
    });
  },
  focused() {
    const element = focused();
    return element ? { ...brief(element), value: valueOf(element, roleOf(element)) } : {};
  },
  click({ target, button, count }) {
    return acting(target, (element) => synthesise(element, { button, count }));
  },
  insert({ target, text }) {
    return acting(target, (element) => {
      setValue(element, (element.value ?? '') + text);
      return {};
    });
  },
  scroll({ target, direction, pages }) {
    const found = target ? single(target) : {};
    if (found.problem) return problemOf(target, found);
    if (!direction) {
      found.element.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
      return scrollBy({ direction: 'down', pages: 0 }, found.element);
    }
    return scrollBy({ direction, pages }, found.element);
  },
  // Where a frame of another origin is, where exactly one can be meant.
  frame({ url, name }) {
    const frames = [...elements(bodyOf())].filter((element) => element.localName === 'iframe' && !innerDocument(element));
    const same = frames.filter((frame) => frame.src === url || (name && frame.name === name));
    const [frame] = same.length ? same : frames;
    if (!frame || same.length > 1 || (!same.length && frames.length > 1)) return {};
    if (!isWithin(frame)) frame.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    const [area, offset] = [frame.getBoundingClientRect(), offsetOf(frame)];
    return { x: area.left + offset.x + frame.clientLeft, y: area.top + offset.y + frame.clientTop };
  },
  async settle({ milliseconds }) {
    await pause(milliseconds);
    return { state: document.readyState };
  },
  async loaded({ milliseconds }) {
    const end = performance.now() + milliseconds;
    while (document.readyState !== 'complete' && performance.now() < end) await pause(50);
    return { state: document.readyState };
  },
  async until({ text, target, url, gone, milliseconds }) {
    const end = performance.now() + milliseconds;
    const holds = () => {
      if (text !== null) return squeeze(bodyOf().innerText, 1_000_000).toLowerCase().includes(squeeze(text, 10_000).toLowerCase()) || framesSay(text);
      if (url !== null) return globbed(url).test(location.href);
      const { found, problem } = matching(target);
      if (problem === 'selector') return null;
      return found.some(isVisible);
    };
    for (;;) {
      const now = holds();
      if (now === null) return problemOf(target, { problem: 'selector' });
      if (now !== gone) return { holds: true };
      if (performance.now() >= end) return { holds: false, near: target ? near(target) : null };
      await pause(100);
    }
  },
};

function acting(target, act) {
  const { element, ...problem } = single(target);
  return element ? act(element) : problemOf(target, problem);
}

// The file input that an element is, labels or holds.
function fileInput(element) {
  const isFile = (at) => at?.localName === 'input' && at.type === 'file';
  if (isFile(element)) return element;
  if (isFile(element.control)) return element.control;
  const inner = element.querySelectorAll('input[type=file]');
  return inner.length === 1 ? inner[0] : null;
}

function fileInputs() {
  return [...elements(document.documentElement)].filter((at) => at.localName === 'input' && at.type === 'file').slice(0, 8).map(brief);
}

function framesSay(text) {
  const wanted = squeeze(text, 10_000).toLowerCase();
  for (const element of elements(bodyOf(), (at) => !isGone(at))) {
    const inner = innerDocument(element);
    if (inner && squeeze(bodyOf(inner).innerText, 1_000_000).toLowerCase().includes(wanted)) return true;
  }
  return false;
}

// A pattern of an address: a star stands for anything; without one, a part of it.
function globbed(pattern) {
  const escaped = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&')).join('.*');
  return pattern.includes('*') ? new RegExp(`^${escaped}$`, 'i') : new RegExp(escaped, 'i');
}

Object.defineProperty(globalThis, 'wharfPage', {
  value: Object.freeze({
    ask: (name, given) => ASKED[name](given),
    fileInput: (target) => fileInput(single(target).element),
  }),
  configurable: true,
});
