# Reference values for test_factorial_against_r.py: factorial designs, computed by R from data of its packages, and
# from values that it draws with a fixed seed. reference.R says how to install R; these packages are needed too:
#
#   apt-get install r-cran-emmeans
#   Rscript reference_factorial.R       # writes factorial_data.json and factorial_reference.json into this folder
#
# Nothing of it runs in the tests: they read the two files.
suppressMessages({ library(afex); library(car); library(emmeans); library(jsonlite) })
options(contrasts = c("contr.sum", "contr.poly"))
afex_options(check_contrasts = FALSE)
emm_options(lmerTest.limit = 1e5, pbkrtest.limit = 0)

data(md_12.1, package = "afex"); data(obk.long, package = "afex")
set.seed(20261129)
drawn <- function(sizes, levels) { # one group of each size, each person with correlated values at the levels
  people <- sum(sizes); group <- rep(letters[seq_along(sizes)], sizes)
  m <- rnorm(people) + matrix(rnorm(people * levels), people) + outer(group == "b", seq_len(levels) / 2)
  data.frame(person = rep(sprintf("p%02d", seq_len(people)), levels), group = rep(group, levels),
    level = rep(paste0("l", seq_len(levels)), each = people), value = round(c(m), 3))
}
crossed <- function(sizes) { # 2 x 2 between people, with two covariates
  n <- sum(sizes); cell <- rep(seq_along(sizes), sizes); age <- round(runif(n, 18, 60)); skill <- round(rnorm(n), 2)
  data.frame(person = sprintf("p%02d", seq_len(n)), a = c("a1", "a2")[(cell - 1) %% 2 + 1],
    b = c("b1", "b2")[(cell - 1) %/% 2 + 1], age = age, skill = skill,
    value = round(rnorm(n) + 0.05 * age + skill / 2 + (cell == 4), 3))
}
sets <- list(
  md_12.1 = with(md_12.1, data.frame(person = sprintf("p%02d", as.integer(as.character(id))), angle = as.character(angle),
    noise = as.character(noise), value = as.numeric(rt))),
  obk = with(obk.long, data.frame(person = sprintf("p%02d", as.integer(as.character(id))), treatment = as.character(treatment),
    gender = as.character(gender), phase = as.character(phase), hour = paste0("h", hour), value = value)),
  balanced = drawn(c(10, 10), 3),
  unbalanced = drawn(c(7, 12), 3),
  between = crossed(c(6, 9, 8, 5)),
  ToothGrowth = with(ToothGrowth, data.frame(person = sprintf("p%02d", seq_along(len)), supp = as.character(supp),
    dose = paste0("d", dose), value = len))
)
designs <- list(
  md_12.1 = list(between = c(), within = c("angle", "noise")),
  obk = list(between = c("treatment", "gender"), within = c("phase", "hour")),
  balanced = list(between = "group", within = "level"),
  unbalanced = list(between = "group", within = "level"),
  between = list(between = c("a", "b"), within = c()),
  ToothGrowth = list(between = c("supp", "dose"), within = c())
)
factors_of <- function(d, design) { # levels in the order of appearance
  for (f in c(design$between, design$within)) d[[f]] <- factor(d[[f]], levels = unique(d[[f]]))
  d
}
fitted_anova <- function(d, design)
  suppressMessages(suppressWarnings(aov_ez("person", "value", factors_of(d, design), between = design$between,
    within = design$within, include_aov = FALSE)))
p_of_w <- function(w, p, n) { # Anderson (2003), 10.7.4, as in reference.R
  rho <- 1 - (2 * p^2 + p + 2) / (6 * p * n); z <- -n * rho * log(w); f <- p * (p + 1) / 2 - 1
  second <- (p + 2) * (p - 1) * (p - 2) * (2 * p^3 + 6 * p^2 + 3 * p + 2) / (288 * (n * p * rho)^2)
  a <- pchisq(z, f, lower.tail = FALSE); a + second * (pchisq(z, f + 4, lower.tail = FALSE) - a)
}
anova_of <- function(d, design) {
  a <- fitted_anova(d, design); ges <- nice(a, es = "ges")
  es <- function(which) suppressWarnings(anova(a, es = which)[[which]])
  table <- anova(a, es = "pes"); terms <- rownames(table); found <- list()
  if (length(design$within)) {
    s <- suppressWarnings(summary(a$Anova, multivariate = FALSE)); u <- unclass(s$univariate.tests)
    adjusted <- unclass(s$pval.adjustments); spheric <- unclass(s$sphericity.tests)
  } else {
    u <- as.data.frame(a$Anova)
    u <- cbind("Sum Sq" = u[["Sum Sq"]], "num Df" = u$Df, "Error SS" = u["Residuals", "Sum Sq"],
      "den Df" = u["Residuals", "Df"], "F value" = u[["F value"]], "Pr(>F)" = u[["Pr(>F)"]])
    rownames(u) <- rownames(as.data.frame(a$Anova)); adjusted <- spheric <- NULL
  }
  pes <- es("pes"); ges <- es("ges"); free <- nrow(a$data$wide) - nrow(unique(a$data$wide[design$between]))
  if (!length(design$between)) free <- nrow(a$data$wide) - 1
  for (i in seq_along(terms)) {
    t <- terms[i]
    one <- list(ss = u[t, "Sum Sq"], ss_error = u[t, "Error SS"], f = u[t, "F value"], df = u[t, "num Df"],
      df_error = u[t, "den Df"], p = u[t, "Pr(>F)"], pes = pes[i], ges = ges[i])
    if (!is.null(adjusted) && t %in% rownames(adjusted))
      one <- c(one, gg = adjusted[t, "GG eps"], p_gg = adjusted[t, "Pr(>F[GG])"], hf = adjusted[t, "HF eps"],
        p_hf = adjusted[t, "Pr(>F[HF])"], w = spheric[t, "Test statistic"],
        p_w = p_of_w(spheric[t, "Test statistic"], one$df_error / free, free))
    found[[t]] <- lapply(one, unname)
  }
  found
}
simple_of <- function(d, design, factor, at) { # an ANOVA of its own at each level of `at`
  levels <- unique(d[[at]]); rest <- lapply(design, setdiff, at)
  found <- lapply(levels, function(l) anova_of(d[d[[at]] == l, ], rest)[[factor]])
  ps <- sapply(found, function(one) if (is.null(one$gg)) one$p else if (one$gg > 0.75) one$p_hf else one$p_gg)
  names(found) <- levels
  Map(function(one, p) c(one, p_holm = p), found, p.adjust(ps, "holm"))
}
simple <- list(obk = c("phase", "treatment"), md_12.1 = c("angle", "noise"), unbalanced = c("level", "group"),
  between = c("b", "a"))
reference <- list(
  anova = Map(anova_of, sets[names(designs)], designs),
  simple = Map(function(n, what) list(factor = what[1], at = what[2],
    effects = simple_of(sets[[n]], designs[[n]], what[1], what[2])), names(simple), simple)
)
write_json(list(sets = lapply(sets, as.list), designs = designs), "factorial_data.json", digits = NA, auto_unbox = FALSE)
write_json(reference, "factorial_reference.json", digits = NA, auto_unbox = TRUE, pretty = TRUE)
