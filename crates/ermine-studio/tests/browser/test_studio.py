"""The studio in a real browser: the whole way from a table to an exported model."""

import json
import re
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from conftest import Console, Studio
from playwright.sync_api import BrowserContext, Page, expect

FEW = ["baseline", "decision-stump", "decision-tree", "logistic-regression"]


def base(page: Page) -> str:
    return "/".join(page.url.split("/")[:3])


def open_penguins(page: Page) -> None:
    page.goto(f"{base(page)}/data")
    page.get_by_role("button", name=re.compile("penguins.csv")).click()
    expect(page.get_by_role("heading", name="penguins.csv")).to_be_visible()
    page.get_by_label("Target: what to predict").select_option("species")
    expect(page.locator("#summary")).to_contain_text("classification of 3 classes")


def compare(page: Page, learners: list[str] = FEW, trials: int = 0) -> None:
    page.goto(f"{base(page)}/compare")
    page.get_by_label("Settings tried per tuned learner").fill(str(trials))
    page.locator("#settings summary").click()
    for name in learners:
        page.locator(f"input[name=learner][value={name}]").check()
    page.get_by_role("button", name="Start comparison").click()


def train(page: Page, learner: str, params: str = "") -> str:
    """Trains a learner on the page Models; the address of the model."""
    page.goto(f"{base(page)}/models")
    page.locator("#learner").select_option(learner)
    page.get_by_label(re.compile("^Parameters")).fill(params)
    page.get_by_role("button", name="Train", exact=True).click()
    page.wait_for_url("**/models/*")
    expect(page.get_by_role("heading", name="Scores on held-out rows")).to_be_visible()
    return page.url


def test_from_the_table_to_an_exported_model(page: Page, studio: Studio, console: Console) -> None:
    console.expect("status of 422")
    assert "token" not in page.url
    open_penguins(page)
    flipper = page.locator('[data-column="flipper_length_mm"]')
    expect(flipper).to_contain_text("relation")
    page.get_by_role("link", name="Compare learners").click()
    expect(page.locator("#about")).to_contain_text("Predict species of penguins.csv")
    compare(page)
    expect(page.locator("#status")).to_have_text("Finished")
    assert page.locator("#board tbody tr").count() == len(FEW)
    expect(page.locator("#board tbody tr").first).to_contain_text("logistic-regression")
    expect(page.locator("#board tbody tr").last).to_contain_text("baseline")
    page.get_by_role("tab", name="Python").first.click()
    expect(page.locator("#code pre")).to_contain_text("from ermine.model_selection import compare")
    page.get_by_role("button", name="Train logistic-regression").click()
    page.wait_for_url("**/models/1")
    expect(page.get_by_role("heading", name="Certificate")).to_be_visible()
    page.get_by_role("link", name="Keep").click()
    page.get_by_label("File name").fill("species.ermine")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#saved")).to_contain_text("Saved species.ermine")
    assert (studio.folder / "species.ermine").stat().st_size > 100
    with page.expect_download() as download:
        page.get_by_role("button", name="ONNX").click()
    assert download.value.suggested_filename == "species.onnx"
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the report").click()
    assert b"<html" in Path(download.value.path()).read_bytes()
    page.get_by_role("button", name="C", exact=True).click()
    expect(page.locator("#messages .bad")).to_contain_text("logistic-regression")
    expect(page.locator("#messages .bad").first).to_be_visible()


def test_entries_come_in_live_and_a_reload_in_mid_run_loses_nothing(page: Page) -> None:
    open_penguins(page)
    compare(page, [])
    expect(page.locator("#status")).to_have_text("Running")
    expect(page.locator("#board tbody tr[data-learner]").nth(2)).to_be_visible()
    before = page.locator("#board tbody tr[data-learner]").count()
    expect(page.locator("#doing")).to_contain_text("cross-validating")
    page.reload()
    expect(page.locator("#status")).to_have_text("Running")
    expect(page.locator("#board tbody tr[data-learner]").nth(before - 1)).to_be_visible()
    expect(page.locator("#board tbody tr[data-learner]").nth(before + 1)).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#status")).to_have_text("Stopped")


def test_stop_and_continue(page: Page) -> None:
    open_penguins(page)
    compare(page, [])
    expect(page.locator("#board tbody tr[data-learner]").nth(1)).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#status")).to_have_text("Stopped")
    stopped = set(page.locator("#board tbody tr[data-learner]").evaluate_all("rows => rows.map(row => row.dataset.learner)"))
    page.get_by_role("button", name="Continue").click()
    expect(page.locator("#status")).to_have_text("Running")
    expect(page.locator("#status")).to_have_text("Finished", timeout=240_000)
    finished = set(page.locator("#board tbody tr[data-learner]").evaluate_all("rows => rows.map(row => row.dataset.learner)"))
    assert stopped < finished


def test_details_of_an_entry_have_a_learning_curve_and_code(page: Page) -> None:
    open_penguins(page)
    compare(page)
    expect(page.locator("#status")).to_have_text("Finished")
    page.get_by_role("button", name="Details of decision-tree").click()
    expect(page.get_by_role("img", name="Learning curve of decision-tree")).to_be_visible()
    expect(page.locator(".detail pre")).to_contain_text("ermine train penguins.csv --target species")


def test_the_threshold_moves_what_depends_on_it(page: Page) -> None:
    open_penguins(page)
    train(page, "logistic-regression")
    recall = page.locator("#at-threshold .score", has_text="recall").locator("b")
    slider = page.get_by_role("slider", name="Threshold")
    slider.fill("0")
    expect(recall).to_have_text("1")
    slider.fill("1")
    expect(page.locator("output")).to_have_text("1.000")
    expect(recall).not_to_have_text("1")
    # By keyboard, too.
    slider.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("output")).to_have_text("0.995")
    # False negatives are expensive: the cheapest threshold is low.
    page.get_by_label("Cost of a false negative").fill("1000")
    page.get_by_role("button", name="Cheapest threshold").click()
    assert float(page.locator("output").inner_text()) < 0.5
    expect(page.get_by_role("img", name=re.compile("^ROC"))).to_be_visible()


def test_what_if_updates_prediction_and_contributions(page: Page) -> None:
    open_penguins(page)
    train(page, "random-forest", "n_estimators=50")
    expect(page.get_by_role("heading", name="SHAP values")).to_be_visible()
    page.get_by_role("link", name="What if").click()
    expect(page.locator("#prediction .bigger")).not_to_be_empty()
    page.locator("#row").fill("1")
    page.get_by_role("button", name="Take it").click()
    expect(page.locator("#truth")).to_contain_text("its true value is Adelie")
    expect(page.locator("#prediction .bigger")).to_have_text("Adelie")
    expect(page.locator("#nearest tbody tr").first).to_contain_text("Adelie")
    # A long bill, long flippers and much weight on Biscoe make a Gentoo of it.
    page.locator('[data-field="bill_length_mm"]').fill("50")
    page.locator('[data-field="bill_depth_mm"]').fill("14")
    page.locator('[data-field="flipper_length_mm"]').fill("225")
    page.locator('[data-field="body_mass_g"]').fill("5600")
    page.locator('[data-field="island"]').select_option("Biscoe")
    expect(page.locator("#prediction .bigger")).to_have_text("Gentoo")
    expect(page.locator("#method")).to_contain_text("Exact SHAP values")
    expect(page.get_by_role("img", name=re.compile("^Contributions to"))).to_be_visible()


def test_a_bad_file_is_a_message_and_the_page_works_on(page: Page, studio: Studio, console: Console) -> None:
    console.expect("status of 4")
    (studio.folder / "bad.csv").write_text('a,b\n1,2\n"open,3\n')
    open_penguins(page)
    page.locator("#opener summary").click()
    page.get_by_label("Path in this folder").fill("bad.csv")
    page.get_by_role("button", name="Open", exact=True).click()
    expect(page.locator("#messages .bad")).to_contain_text("bad.csv")
    page.get_by_label("Path in this folder").fill("../../etc/passwd")
    page.get_by_role("button", name="Open", exact=True).click()
    expect(page.locator("#messages .bad").last).to_contain_text("outside the folder")
    expect(page.get_by_role("heading", name="penguins.csv")).to_be_visible()
    # A file from elsewhere is uploaded.
    page.locator("#file").set_input_files({"name": "small.csv", "mimeType": "text/csv", "buffer": b"x,y\n1,2\n2,3\n3,5\n"})
    expect(page.get_by_role("heading", name="small.csv")).to_be_visible()


def test_types_and_features_can_be_changed(page: Page) -> None:
    open_penguins(page)
    page.get_by_label("Type of body_mass_g").select_option("nominal")
    expect(page.locator("#summary")).to_contain_text("classification of 3 classes")
    expect(page.get_by_label("Type of body_mass_g")).to_have_value("nominal")
    page.get_by_label("Use island as a feature").uncheck()
    expect(page.locator('[data-column="island"]')).to_have_class(re.compile("off"))
    page.goto(f"{base(page)}/compare")
    expect(page.locator("#about")).to_contain_text("without island")


def test_two_tabs_see_the_same_session(page: Page, context: BrowserContext) -> None:
    open_penguins(page)
    compare(page, [])
    second = context.new_page()
    second.goto(f"{base(page)}/compare")
    expect(second.locator("#status")).to_have_text("Running")
    expect(second.locator("#board tbody tr[data-learner]").nth(1)).to_be_visible()
    second.get_by_role("button", name="Stop").click()
    expect(second.locator("#status")).to_have_text("Stopped")
    expect(page.locator("#status")).to_have_text("Stopped")
    page.get_by_role("button", name="Continue").click()
    expect(second.locator("#status")).to_have_text("Running")
    page.get_by_role("button", name="Stop").click()
    expect(second.locator("#status")).to_have_text("Stopped")


def test_nothing_is_lost_by_kill_9(page: Page, studio: Studio, console: Console) -> None:
    console.expect("ERR_")
    console.expect("status of 401")
    open_penguins(page)
    train(page, "decision-tree")
    compare(page, [])
    expect(page.locator("#board tbody tr[data-learner]").nth(1)).to_be_visible()
    studio.kill()
    studio.start()
    page.goto(studio.url)
    expect(page.get_by_role("heading", name="penguins.csv")).to_be_visible()
    expect(page.locator("#summary")).to_contain_text("classification of 3 classes")
    page.goto(f"{base(page)}/compare")
    expect(page.locator("#status")).to_have_text("Interrupted")
    n = page.locator("#board tbody tr[data-learner]").count()
    assert n >= 2
    page.get_by_role("button", name="Continue").click()
    expect(page.locator("#board tbody tr[data-learner]").nth(n)).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#status")).to_have_text("Stopped")
    page.goto(f"{base(page)}/models/1")
    expect(page.get_by_role("heading", name="Certificate")).to_be_visible()


def test_the_playground_learns_what_is_drawn(page: Page, console: Console) -> None:
    console.expect("status of 422")
    page.goto(f"{base(page)}/learn")
    errors = page.locator("#facts .score", has_text="training errors").locator("b")
    expect(errors).to_contain_text("of")
    page.get_by_label("Example").select_option("xor")
    page.locator("#learner").select_option("gradient-boosting")
    page.get_by_role("button", name="Back to 1").click()
    for _ in range(3):
        page.get_by_role("button", name=re.compile("^Step")).click()
    expect(page.locator('[data-param="n_estimators"]')).to_have_value("4")
    expect(page.get_by_role("img", name="Training error and objective by step")).to_be_visible()
    # A point by mouse, and one by keyboard.
    n = page.locator("#points circle").count()
    page.locator("#plane").click(position={"x": 60, "y": 60})
    page.locator("#plane").press("ArrowRight")
    page.locator("#plane").press("Enter")
    expect(page.locator("#points circle")).to_have_count(n + 2)
    page.locator("#learner").select_option("svc")
    expect(page.locator("#facts")).to_contain_text("support vectors")
    page.locator('[data-param="C"]').fill("-1")
    expect(page.locator("#error")).to_contain_text("C")


def pages_with_content(page: Page) -> list[str]:
    """Opens data, compares and trains; the paths of all pages."""
    open_penguins(page)
    compare(page)
    expect(page.locator("#status")).to_have_text("Finished")
    train(page, "random-forest", "n_estimators=30")
    return ["/data", "/compare", "/models", "/models/1", "/models/1/what-if", "/models/1/keep", "/learn"]


def settle(page: Page, path: str) -> None:
    page.goto(base(page) + path)
    page.wait_for_load_state("networkidle" if path != "/compare" else "load")
    if path == "/compare":
        expect(page.locator("#status")).to_have_text("Finished")


def test_every_page_passes_the_accessibility_check(page: Page, console: Console) -> None:
    for path in pages_with_content(page):
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            settle(page, path)
            found = Axe().run(page).response["violations"]
            described = [(one["id"], one["help"], [node["html"][:160] for node in one["nodes"][:3]]) for one in found]
            assert described == [], f"{path}, {scheme}: {json.dumps(described, indent=1)}"


def test_no_page_is_wider_than_a_phone(page: Page) -> None:
    paths = pages_with_content(page)
    page.set_viewport_size({"width": 390, "height": 844})
    for path in paths:
        settle(page, path)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 390, f"{path} is {width} px wide"


def test_the_first_page_is_small_and_loads_nothing_from_elsewhere(context: BrowserContext, studio: Studio) -> None:
    page = context.new_page()
    responses = []
    page.on("response", lambda response: responses.append(response))
    page.goto(studio.url)
    page.wait_for_load_state("networkidle")
    assert all(response.url.startswith(f"http://127.0.0.1:{studio.port}/") for response in responses)
    total = sum(len(response.body()) for response in responses if response.status == 200)
    assert total < 300_000, total


def test_without_the_token_there_is_only_a_hint(context: BrowserContext, studio: Studio, console: Console) -> None:
    console.expect("status of 401")
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{studio.port}/data")
    expect(page.get_by_role("heading", name="This address needs its token")).to_be_visible()
    assert not page.locator("nav").count()
