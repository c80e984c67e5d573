/* What stands in the room and is kept as the page has it: places, bodies, board, the panel of a place. */

import { Color, Group, Scene, Vector3 } from "../../vendor/three/three.min.js";
import { Board } from "./board.js";
import { Panel } from "./panel.js";
import { at, planOf, standingAt } from "./plan.js";
import { Body } from "./bodies.js";
import { roomOf } from "./room.js";
import { Place } from "./place.js";
import { SAY } from "./words.js";

export class Scenery {
  constructor(page, looks, theme, { say, wake }) {
    Object.assign(this, { page, looks, theme, say, wake });
    this.scene = new Scene();
    this.scene.background = new Color(theme.paper);
    this.panel = new Panel(theme);
    this.panel.onChange = () => this.#changed();
    this.board = new Board(theme);
    this.bodies = new Map();
    this.picked = -1; // the place that is pointed at
    this.turn = "";
    this.extra = []; // buttons that only a headset has
    this.#furnish();
  }

  #furnish() {
    const told = this.page.places();
    this.plan = planOf(told.map(({ element }) => this.looks.side(element)));
    this.places = told.map((one) => new Place(one, this.looks, this.theme));
    this.things_ = new Group();
    this.places.forEach((place, index) => {
      const angle = this.plan.angles[index];
      place.group.position.set(...at(angle, this.plan.radius));
      place.group.rotation.y = -angle;
      place.picture(told[index].picture).then(this.wake);
      this.things_.add(place.group);
    });
    this.board.mesh.position.set(...at(0, this.plan.radius + 0.1, 2.1 + 0.25 * this.plan.radius));
    this.board.mesh.rotation.x = 0.2;
    this.board.mesh.scale.setScalar((1.15 * this.plan.radius) / 3);
    this.board.mesh.visible = false; // beside the scene on a screen there is the page
    const half = Math.max(...this.plan.angles);
    this.scene.add(roomOf(this.plan.radius, half, this.theme), this.things_, this.board.mesh, this.panel.group);
  }

  /* what a ray can meet */
  things() {
    const targets = this.places.map((place) => place.target);
    return { buttons: [...this.panel.buttons, ...this.extra], targets };
  }

  /* everything as the page has it now */
  async update() {
    const news = this.page.news();
    const turn = `${news.step} ${this.page.choosing()}`;
    if (turn !== this.turn) this.panel.hide();
    this.turn = turn;
    this.told = this.page.places();
    const shown = [this.board.show(news, this.looks.orders(this.page)), ...this.#showPlaces(), ...this.#showBodies()];
    this.#changed();
    await Promise.all(shown);
    this.wake();
  }

  #showPlaces() {
    return this.places.map((place, index) => {
      const contents = this.looks.contents(this.told[index].element, this.page);
      return place.show(contents, { chosen: index === this.picked, hinted: this.told[index].hinted });
    });
  }

  #showBodies() {
    const bots = this.page.bots();
    return bots.map((bot) => {
      const index = this.places.findIndex((place) => place.spot === bot.spot);
      const beside = bots.filter((other) => other.spot === bot.spot);
      return this.#body(bot).show(bot, standingAt(this.plan, index, beside.indexOf(bot), beside.length));
    });
  }

  #body(bot) {
    if (!this.bodies.has(bot.seat)) {
      const body = new Body(bot, this.theme);
      this.bodies.set(bot.seat, body);
      this.scene.add(body.group);
    }
    return this.bodies.get(bot.seat);
  }

  /* whether something is still on its way */
  move(now) {
    return [...this.bodies.values()].map((body) => body.move(now)).some(Boolean);
  }

  /* pointing */

  point(hit) {
    if (hit?.button !== undefined) this.panel.light(hit.button);
    else if (hit?.spot && !this.panel.open) this.pick(this.places.findIndex((place) => place.spot === hit.spot));
  }

  pick(index) {
    if (index === this.picked) return;
    this.picked = index;
    Promise.all(this.#showPlaces()).then(this.wake);
    this.#changed();
  }

  /* the next place to the left or to the right; within a panel of two columns, the next button */
  step(by) {
    if (this.panel.across > 1) return this.panel.step(by);
    const { order } = this.plan;
    const here = order.indexOf(this.picked);
    const next = here < 0 ? Math.floor(order.length / 2) : Math.max(0, Math.min(order.length - 1, here + by));
    this.closePanel();
    return this.pick(order[next]);
  }

  /* choosing */

  choose(hit) {
    if (hit?.act) hit.act();
    else if (hit?.button !== undefined) this.panel.act(hit.button);
    else if (hit?.spot) {
      const index = this.places.findIndex((place) => place.spot === hit.spot);
      this.pick(index);
      this.chooseAt(index);
    } else this.closePanel();
  }

  chooseHere() {
    if (this.panel.open) this.panel.act();
    else if (this.picked >= 0) this.chooseAt(this.picked);
  }

  async chooseAt(index) {
    if (!this.page.choosing()) return;
    const { spot } = this.places[index];
    const actions = this.page.actionsAt(spot);
    if (actions.length === 1 && actions[0].atOnce) await this.#do(spot, actions[0]);
    else await this.panel.show(spot, ...this.#choices(spot, actions));
  }

  /* the usual ones, and those that are shown when they are asked for */
  #choices(spot, actions) {
    if (!actions.length) return [[{ words: SAY.nothingHere, picture: "", act: () => this.closePanel() }], []];
    const choices = actions.map((action) => ({ ...action, act: () => this.#do(spot, action) }));
    const usual = choices.filter((one) => !one.rare);
    return usual.length ? [usual, choices.filter((one) => one.rare)] : [choices, []];
  }

  async #do(spot, action) {
    if (!this.page.asks()) return this.#send(action);
    const sure = { ...action, act: () => this.#send(action) };
    return this.panel.show(spot, [sure, { words: SAY.chooseAnother, picture: "", act: () => this.closePanel() }]);
  }

  #send(action) {
    this.closePanel();
    this.page.send(action);
  }

  closePanel() {
    this.panel.hide();
    this.#changed();
  }

  /* where the panel stands: before its place, turned to who looks */
  panelAt() {
    const index = this.places.findIndex((place) => place.spot === this.panel.spot);
    return index < 0 ? null : { angle: this.plan.angles[index], place: new Vector3(...at(this.plan.angles[index], this.plan.radius, 1.55)) };
  }

  #changed() {
    const one = this.told?.[this.picked];
    this.say(this.panel.open ? this.panel.words : one ? one.told : "");
    this.wake();
  }
}
